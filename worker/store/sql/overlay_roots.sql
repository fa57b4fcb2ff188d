-- What stands for the table roots in the catalog `image` of an overlay: $roots = ['flask'].
CREATE TABLE image.roots AS SELECT DISTINCT unnest($roots::VARCHAR[]) AS root
