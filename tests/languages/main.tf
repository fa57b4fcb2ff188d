# The network.
terraform {
  required_version = ">= 1.5"
}

/* How many. */
variable "count_of" {
  type    = number
  default = 2 # resource "a" "hidden" {}
}

locals {
  // The name.
  name = "net-${var.env}"
  tags = {
    Name = local.name
  }
}

resource "aws_instance" "web" {
  ami = data.aws_ami.latest.id
  dynamic "disk" {
    for_each = var.disks
    content { size = disk.value["size"] }
  }
  user_data = <<-EOF
    resource "not" "this" {
    it's }
  EOF
  tags = merge({
    Name = "web"
  }, local.tags)
}
data "aws_ami" "latest" { owners = ["self"] }
module "vpc" {
  source = "./modules/vpc"
}
provider "aws" { region = "eu" }
output "id" { value = aws_instance.web.id }
job "run" {
  group "g" {}
}
resource "aws_s3_object" "o" {
  source = "./not/a/module.zip"
}
