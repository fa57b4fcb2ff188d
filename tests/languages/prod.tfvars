region = "eu-1"
sizes = {
  small = 1
}
