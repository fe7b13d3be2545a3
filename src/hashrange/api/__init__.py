"""The operations, one file each, named as AWS names them."""
