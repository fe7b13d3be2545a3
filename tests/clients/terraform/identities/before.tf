# A user with a key, policies of every kind, a group, a role, and a table with a policy of its own.
data "aws_caller_identity" "me" {}

data "aws_iam_policy_document" "own_notes" {
  statement {
    sid       = "OwnNotes"
    actions   = ["dynamodb:GetItem", "dynamodb:Query"]
    resources = [aws_dynamodb_table.notes.arn]
    condition {
      test     = "ForAllValues:StringEquals"
      variable = "dynamodb:LeadingKeys"
      values   = ["$${aws:username}"]
    }
  }
}

data "aws_iam_policy_document" "trust" {
  statement {
    actions = ["sts:AssumeRole"]
    principals {
      type        = "AWS"
      identifiers = [aws_iam_user.app.arn]
    }
  }
}

data "aws_iam_policy_document" "table" {
  statement {
    sid       = "Keep"
    effect    = "Deny"
    actions   = ["dynamodb:DeleteItem"]
    resources = [aws_dynamodb_table.notes.arn]
    principals {
      type        = "AWS"
      identifiers = [aws_iam_role.writer.arn]
    }
  }
}

resource "aws_iam_user" "app" {
  name = var.name
  path = "/apps/"
}

resource "aws_iam_access_key" "app" {
  user = aws_iam_user.app.name
}

resource "aws_iam_policy" "own_notes" {
  name        = "${var.name}-own"
  description = "One table, own keys only."
  policy      = data.aws_iam_policy_document.own_notes.json
}

resource "aws_iam_user_policy_attachment" "own_notes" {
  user       = aws_iam_user.app.name
  policy_arn = aws_iam_policy.own_notes.arn
}

resource "aws_iam_user_policy" "lists" {
  name = "lists"
  user = aws_iam_user.app.name
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "dynamodb:ListTables", Resource = "*" }]
  })
}

resource "aws_iam_group" "readers" {
  name = "${var.name}-readers"
}

resource "aws_iam_group_policy_attachment" "readers" {
  group      = aws_iam_group.readers.name
  policy_arn = "arn:aws:iam::aws:policy/AmazonDynamoDBReadOnlyAccess"
}

resource "aws_iam_user_group_membership" "app" {
  user   = aws_iam_user.app.name
  groups = [aws_iam_group.readers.name]
}

resource "aws_iam_role" "writer" {
  name                 = "${var.name}-writer"
  assume_role_policy   = data.aws_iam_policy_document.trust.json
  max_session_duration = 7200
  tags                 = { team = "notes" }
}

resource "aws_iam_role_policy" "writes" {
  name = "writes"
  role = aws_iam_role.writer.id
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "dynamodb:*Item", Resource = aws_dynamodb_table.notes.arn }]
  })
}

resource "aws_iam_role_policy_attachment" "own_notes" {
  role       = aws_iam_role.writer.name
  policy_arn = aws_iam_policy.own_notes.arn
}

resource "aws_dynamodb_table" "notes" {
  name         = var.name
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "pk"

  attribute {
    name = "pk"
    type = "S"
  }
}

resource "aws_dynamodb_resource_policy" "notes" {
  resource_arn = aws_dynamodb_table.notes.arn
  policy       = data.aws_iam_policy_document.table.json
}

output "facts" {
  value = {
    account = data.aws_caller_identity.me.account_id
    caller  = data.aws_caller_identity.me.arn
    key     = aws_iam_access_key.app.id
    role    = aws_iam_role.writer.arn
  }
}

output "secret" {
  value     = aws_iam_access_key.app.secret
  sensitive = true
}
