"""What stands behind schema_change: values that fit a schema, texts that fit a pattern."""
