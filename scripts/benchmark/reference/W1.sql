SELECT json_build_object('book', (
    SELECT json_build_object(
        'id', b.id, 'title', b.title, 'author', b.author, 'status', b.status,
        'shelves', (
            SELECT json_agg(json_build_object('id', s.id, 'name', s.name) ORDER BY s.position, s.id)
            FROM shelf_books sb
            JOIN shelves s ON s.user_id = sb.user_id AND s.id = sb.shelf_id
            WHERE sb.user_id = b.user_id AND sb.book_id = b.id
        ),
        'review', (
            SELECT json_build_object('rating', r.quarter_stars / 4, 'text', r.text)
            FROM reviews r
            WHERE r.user_id = b.user_id AND r.book_id = b.id
        )
    )
    FROM books b
    WHERE b.user_id = :'user' AND b.id = :'id'
));
