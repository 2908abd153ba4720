// change
