"""Resource policies: who may do what with a table or a stream, said by its owner."""
