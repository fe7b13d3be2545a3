# The key is described otherwise and no longer rotated, and the table is encrypted under the store's own key again.
data "aws_caller_identity" "me" {}

resource "aws_kms_key" "notes" {
  description             = "Once of ${var.name}."
  deletion_window_in_days = 7
  enable_key_rotation     = false
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
    enabled = false
  }
}

output "facts" {
  value = {
    arn = aws_kms_key.notes.arn
    id  = aws_kms_key.notes.key_id
  }
}
