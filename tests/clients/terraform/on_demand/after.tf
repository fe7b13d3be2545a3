# One index is gone and another has come, limits and warm throughput have grown, the other settings are changed.
resource "aws_dynamodb_table" "orders" {
  name                        = var.name
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "customer"
  range_key                   = "placed"
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  table_class                 = "STANDARD_INFREQUENT_ACCESS"
  deletion_protection_enabled = var.protected

  attribute {
    name = "customer"
    type = "S"
  }
  attribute {
    name = "placed"
    type = "N"
  }
  attribute {
    name = "total"
    type = "N"
  }
  attribute {
    name = "seal"
    type = "B"
  }
  attribute {
    name = "country"
    type = "S"
  }

  local_secondary_index {
    name            = "by-total"
    range_key       = "total"
    projection_type = "KEYS_ONLY"
  }
  local_secondary_index {
    name               = "by-seal"
    range_key          = "seal"
    projection_type    = "INCLUDE"
    non_key_attributes = ["state", "note"]
  }

  global_secondary_index {
    name            = "all-by-total"
    hash_key        = "total"
    projection_type = "ALL"

    warm_throughput {
      read_units_per_second  = 14000
      write_units_per_second = 5000
    }
  }
  global_secondary_index {
    name            = "by-country"
    hash_key        = "country"
    projection_type = "KEYS_ONLY"
  }

  on_demand_throughput {
    max_read_request_units  = 200
    max_write_request_units = -1
  }

  warm_throughput {
    read_units_per_second  = 15000
    write_units_per_second = 6000
  }

  ttl {
    attribute_name = "expires"
    enabled        = false
  }

  server_side_encryption {
    enabled = true
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 14
  }

  tags = { cost = "2", region = "north" }
}
