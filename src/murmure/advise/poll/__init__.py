"""A poll without a computer: real devices, what they certify, a card to print."""
