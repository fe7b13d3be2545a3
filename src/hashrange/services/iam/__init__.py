"""AWS Identity and Access Management: users, groups, roles, policies and access keys."""
