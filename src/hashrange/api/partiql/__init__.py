"""Operations that run PartiQL statements."""
