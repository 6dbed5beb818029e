-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE books b
SET publisher = $3, published_date = $4, language = $5, page_count = $6, updated_at = now()
WHERE b.user_id = $1 AND b.id = $2 AND (b.current_page <= $6) IS NOT FALSE
RETURNING b.id, b.publisher, b.published_date, b.page_count, b.language, b.isbn13, b.title, b.authors[1];

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT amazon_tag, bookshop_id
FROM tenants
WHERE id = $1;
