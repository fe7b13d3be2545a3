resource "aws_dynamodb_table" "readings" {
  name           = var.name
  hash_key       = "sensor"
  read_capacity  = 5
  write_capacity = 6

  attribute {
    name = "sensor"
    type = "S"
  }
  attribute {
    name = "kind"
    type = "S"
  }

  global_secondary_index {
    name            = "by-kind"
    hash_key        = "kind"
    projection_type = "ALL"
    read_capacity   = 7
    write_capacity  = 8
  }
}

resource "aws_dynamodb_tag" "owner" {
  resource_arn = aws_dynamodb_table.heartbeats.arn
  key          = "owner"
  value        = "ada"
}

resource "aws_dynamodb_table" "heartbeats" {
  name           = "${var.name}-heartbeats"
  hash_key       = "host"
  read_capacity  = 5
  write_capacity = 5

  attribute {
    name = "host"
    type = "S"
  }

  lifecycle {
    ignore_changes = [tags, tags_all]
  }
}

resource "aws_dynamodb_table" "spans" {
  name           = "${var.name}-spans"
  billing_mode   = "PROVISIONED"
  hash_key       = "trace"
  read_capacity  = 3
  write_capacity = 3

  attribute {
    name = "trace"
    type = "S"
  }
  attribute {
    name = "service"
    type = "S"
  }
  attribute {
    name = "host"
    type = "S"
  }
  attribute {
    name = "day"
    type = "S"
  }
  attribute {
    name = "started"
    type = "N"
  }

  global_secondary_index {
    name            = "by-place-and-time"
    projection_type = "KEYS_ONLY"
    read_capacity   = 3
    write_capacity  = 3

    key_schema {
      attribute_name = "service"
      key_type       = "HASH"
    }
    key_schema {
      attribute_name = "host"
      key_type       = "HASH"
    }
    key_schema {
      attribute_name = "day"
      key_type       = "RANGE"
    }
    key_schema {
      attribute_name = "started"
      key_type       = "RANGE"
    }
  }
}

resource "aws_dynamodb_contributor_insights" "table" {
  table_name = aws_dynamodb_table.readings.name
  mode       = "THROTTLED_KEYS"
}

resource "aws_dynamodb_contributor_insights" "index" {
  table_name = aws_dynamodb_table.readings.name
  index_name = "by-kind"
}

resource "aws_appautoscaling_target" "reads" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${aws_dynamodb_table.heartbeats.name}"
  scalable_dimension = "dynamodb:table:ReadCapacityUnits"
  min_capacity       = 5
  max_capacity       = 100
  tags               = { team = "blue" }
}

resource "aws_appautoscaling_target" "index_writes" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${aws_dynamodb_table.readings.name}/index/by-kind"
  scalable_dimension = "dynamodb:index:WriteCapacityUnits"
  min_capacity       = 8
  max_capacity       = 80
}

resource "aws_appautoscaling_policy" "reads" {
  name               = "reads-${var.name}"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.reads.service_namespace
  resource_id        = aws_appautoscaling_target.reads.resource_id
  scalable_dimension = aws_appautoscaling_target.reads.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 70

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBReadCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_policy" "index_writes" {
  name               = "writes-${var.name}"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.index_writes.service_namespace
  resource_id        = aws_appautoscaling_target.index_writes.resource_id
  scalable_dimension = aws_appautoscaling_target.index_writes.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value       = 55.5
    disable_scale_in   = true
    scale_in_cooldown  = 60
    scale_out_cooldown = 30

    predefined_metric_specification {
      predefined_metric_type = "DynamoDBWriteCapacityUtilization"
    }
  }
}

resource "aws_appautoscaling_scheduled_action" "dusk" {
  name               = "dusk-${var.name}"
  service_namespace  = aws_appautoscaling_target.reads.service_namespace
  resource_id        = aws_appautoscaling_target.reads.resource_id
  scalable_dimension = aws_appautoscaling_target.reads.scalable_dimension
  schedule           = "cron(0 17 * * ? *)"

  scalable_target_action {
    min_capacity = 2
    max_capacity = 200
  }
}

resource "aws_cloudwatch_metric_alarm" "throttles" {
  alarm_name          = "throttles-${var.name}"
  alarm_description   = "Reads are refused"
  namespace           = "AWS/DynamoDB"
  metric_name         = "ReadThrottleEvents"
  dimensions          = { TableName = aws_dynamodb_table.readings.name }
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = 5
  datapoints_to_alarm = 3
  comparison_operator = "GreaterThanOrEqualToThreshold"
  threshold           = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = ["arn:aws:sns:us-east-1:000000000000:pager"]
  tags                = { team = "blue" }
}

resource "aws_cloudwatch_metric_alarm" "slow" {
  alarm_name          = "slow-${var.name}"
  namespace           = "AWS/DynamoDB"
  metric_name         = "SuccessfulRequestLatency"
  dimensions          = { TableName = aws_dynamodb_table.readings.name, Operation = "GetItem" }
  extended_statistic  = "p99.9"
  period              = 300
  evaluation_periods  = 1
  comparison_operator = "GreaterThanThreshold"
  threshold           = 12.5
  unit                = "Milliseconds"
}

resource "aws_cloudwatch_metric_alarm" "utilization" {
  alarm_name          = "utilization-${var.name}"
  evaluation_periods  = 2
  comparison_operator = "GreaterThanThreshold"
  threshold           = 80

  metric_query {
    id          = "used"
    expression  = "100 * consumed / PERIOD(consumed) / provisioned"
    label       = "percent of the provisioned reads"
    return_data = true
  }
  metric_query {
    id = "consumed"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "ConsumedReadCapacityUnits"
      dimensions  = { TableName = aws_dynamodb_table.readings.name }
      period      = 60
      stat        = "Sum"
    }
  }
  metric_query {
    id = "provisioned"

    metric {
      namespace   = "AWS/DynamoDB"
      metric_name = "ProvisionedReadCapacityUnits"
      dimensions  = { TableName = aws_dynamodb_table.readings.name }
      period      = 60
      stat        = "Average"
    }
  }
}
