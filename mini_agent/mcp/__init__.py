"""The protocol side: messages, transports, the client, and the adapter that makes a Tool of it."""
