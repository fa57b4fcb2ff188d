-- Note of files which engine extracted them, and whether it understood them whole.
UPDATE files SET engine = loaded.engine, is_parsed = loaded.is_parsed::BOOLEAN FROM loaded WHERE files.path = loaded.path
