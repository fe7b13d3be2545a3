"""The files of exports, imports and bulk operations: their lines, packing, names and manifests. No disk, no network."""
