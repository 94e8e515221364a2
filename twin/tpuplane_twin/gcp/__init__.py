"""Google's API of the twin: Kubernetes Engine, Compute Engine, IAM, Cloud KMS, Cloud Monitoring and others."""
