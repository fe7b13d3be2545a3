"""The audit log: who did what, from where and with which outcome, in lines that cannot be changed unseen."""
