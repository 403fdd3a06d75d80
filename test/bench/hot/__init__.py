"""hot_promotion and what it is compared with."""
