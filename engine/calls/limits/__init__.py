"""What an account may send: requests and tokens per minute, calls in flight, and pauses that the server asked for."""
