"""Operations by which people decide about records and rules, and erase them."""
