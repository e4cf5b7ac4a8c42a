"""One module per wire protocol, the transport, prices, and the simulated provider."""
