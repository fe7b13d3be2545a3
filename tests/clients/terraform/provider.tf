terraform {
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
}

variable "endpoint" {
  type = string
}

variable "name" {
  description = "Names everything that this run makes."
  type        = string
}

variable "protected" {
  description = "Whether tables are protected against deletion; the service wants this changed alone."
  type        = bool
  default     = true
}

variable "access_key" {
  type    = string
  default = "test"
}

variable "secret_key" {
  type      = string
  default   = "test"
  sensitive = true
}

provider "aws" {
  region     = "us-east-1"
  access_key = var.access_key
  secret_key = var.secret_key

  endpoints {
    appautoscaling = var.endpoint
    cloudwatch     = var.endpoint
    dynamodb       = var.endpoint
    iam            = var.endpoint
    kms            = var.endpoint
    sts            = var.endpoint
  }

  default_tags {
    tags = { made-by = "terraform" }
  }
}
