"""Pages and plain words for people: certificates in sentences, a page of figures, French and English."""
