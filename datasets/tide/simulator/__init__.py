"""The simulated user (§4.2, Appendix E): a router, a generator, and a validator between them and the agent."""
