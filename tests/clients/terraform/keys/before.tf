# A key with an alias, and a table that is encrypted under it.
data "aws_caller_identity" "me" {}

resource "aws_kms_key" "notes" {
  description             = "Of ${var.name}."
  deletion_window_in_days = 7
  enable_key_rotation     = true
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "Account"
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::${data.aws_caller_identity.me.account_id}:root" }
      Action    = "kms:*"
      Resource  = "*"
    }]
  })
}

resource "aws_kms_alias" "notes" {
  name          = "alias/${var.name}"
  target_key_id = aws_kms_key.notes.key_id
}

resource "aws_dynamodb_table" "notes" {
  name         = var.name
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "pk"

  attribute {
    name = "pk"
    type = "S"
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = aws_kms_key.notes.arn
  }
}

output "facts" {
  value = {
    arn = aws_kms_key.notes.arn
    id  = aws_kms_key.notes.key_id
  }
}
