-- The text of blocks $first to $last, in order.
SELECT block, path, text FROM blocks WHERE block BETWEEN $first AND $last
