resource "aws_dynamodb_table" "songs" {
  name         = var.name
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "artist"
  range_key    = "year"

  attribute {
    name = "artist"
    type = "S"
  }
  attribute {
    name = "year"
    type = "N"
  }

  point_in_time_recovery {
    enabled = true
  }
}

resource "aws_dynamodb_table_item" "song" {
  table_name = aws_dynamodb_table.songs.name
  hash_key   = aws_dynamodb_table.songs.hash_key
  range_key  = aws_dynamodb_table.songs.range_key
  item = jsonencode({
    artist = { S = "Nina" }
    year   = { N = "1965" }
    plays  = { N = "13" }
    cover  = { B = "AAEC" }
    labels = { SS = ["blues"] }
    scores = { NS = ["1", "2.5"] }
    blobs  = { BS = ["AQ==", "Ag=="] }
    length = { S = "3:20" }
    more   = { M = { deep = { M = { er = { S = "ü" } } } } }
  })
}

resource "aws_dynamodb_table_export" "songs" {
  table_arn     = aws_dynamodb_table.songs.arn
  s3_bucket     = var.name
  s3_prefix     = "songs"
  export_format = "DYNAMODB_JSON"

  depends_on = [aws_dynamodb_table_item.song]
}

resource "aws_dynamodb_table" "restored" {
  name                   = "${var.name}-restored"
  billing_mode           = "PAY_PER_REQUEST"
  hash_key               = "artist"
  range_key              = "year"
  restore_source_name    = aws_dynamodb_table.songs.name
  restore_to_latest_time = true

  attribute {
    name = "artist"
    type = "S"
  }
  attribute {
    name = "year"
    type = "N"
  }

  depends_on = [aws_dynamodb_table_item.song]

  # The provider gives tags to a table that it creates only.
  lifecycle {
    ignore_changes = [tags, tags_all]
  }
}

resource "aws_dynamodb_table" "imported" {
  name         = "${var.name}-imported"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "artist"

  attribute {
    name = "artist"
    type = "S"
  }

  import_table {
    input_compression_type = "GZIP"
    input_format           = "DYNAMODB_JSON"

    s3_bucket_source {
      bucket     = aws_dynamodb_table_export.songs.s3_bucket
      key_prefix = "${dirname(aws_dynamodb_table_export.songs.manifest_files_s3_key)}/data/"
    }
  }

  # The provider gives tags to a table that it creates only.
  lifecycle {
    ignore_changes = [tags, tags_all]
  }
}

data "aws_dynamodb_table" "songs" {
  name = aws_dynamodb_table.songs.name
}

data "aws_dynamodb_tables" "all" {
  depends_on = [aws_dynamodb_table.songs]
}

data "aws_dynamodb_table_item" "song" {
  table_name                 = aws_dynamodb_table.songs.name
  projection_expression      = "plays, #m.deep"
  expression_attribute_names = { "#m" = "more" }
  key                        = jsonencode({ artist = { S = "Nina" }, year = { N = "1965" } })

  depends_on = [aws_dynamodb_table_item.song]
}

output "facts" {
  value = {
    billing  = data.aws_dynamodb_table.songs.billing_mode
    exported = aws_dynamodb_table_export.songs.item_count
    item     = jsondecode(data.aws_dynamodb_table_item.song.item)
    listed   = contains(data.aws_dynamodb_tables.all.names, aws_dynamodb_table.songs.name)
    recovery = data.aws_dynamodb_table.songs.point_in_time_recovery[0].enabled
    status   = aws_dynamodb_table_export.songs.export_status
  }
}
