"""What CloudWatch keeps of alarms: auto scaling, which has alarms of its own, needs it as well as CloudWatch."""
