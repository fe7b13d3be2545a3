"""What else answers on the endpoint beside DynamoDB itself: one folder for each service, of the same shape as api/."""
