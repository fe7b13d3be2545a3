"""Operations that read or write several items as one."""
