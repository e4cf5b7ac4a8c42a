"""The providers' batch APIs: many questions in one parcel, answered within a day at a lower price."""
