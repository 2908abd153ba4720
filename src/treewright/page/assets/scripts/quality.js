// quality
