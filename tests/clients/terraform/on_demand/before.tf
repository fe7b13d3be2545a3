resource "aws_dynamodb_table" "orders" {
  name                        = var.name
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "customer"
  range_key                   = "placed"
  stream_enabled              = true
  stream_view_type            = "NEW_IMAGE"
  table_class                 = "STANDARD"
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
    name = "state"
    type = "S"
  }
  attribute {
    name = "seal"
    type = "B"
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
    name               = "by-state"
    hash_key           = "state"
    range_key          = "placed"
    projection_type    = "INCLUDE"
    non_key_attributes = ["total", "note", "address"]

    on_demand_throughput {
      max_read_request_units  = 40
      max_write_request_units = 20
    }
  }
  global_secondary_index {
    name            = "all-by-total"
    hash_key        = "total"
    projection_type = "ALL"

    warm_throughput {
      read_units_per_second  = 13000
      write_units_per_second = 5000
    }
  }

  on_demand_throughput {
    max_read_request_units  = 100
    max_write_request_units = 50
  }

  warm_throughput {
    read_units_per_second  = 12500
    write_units_per_second = 4500
  }

  ttl {
    attribute_name = "expires"
    enabled        = true
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = 7
  }

  tags = { team = "blue", cost = "1" }
}
