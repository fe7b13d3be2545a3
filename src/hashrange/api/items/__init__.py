"""Operations on items: reads, writes, pages and batches."""
