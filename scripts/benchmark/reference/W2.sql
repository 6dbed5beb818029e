SELECT json_build_object('me', (
    SELECT json_build_object('id', u.id, 'displayName', u.display_name, 'shelves', (
        SELECT json_agg(json_build_object('id', s.id, 'name', s.name, 'books', json_build_object('nodes', (
            SELECT json_agg(
                json_build_object(
                    'id', b.id, 'title', b.title, 'author', b.author, 'status', b.status,
                    'addedAt', to_char(b.added_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                    'image', json_build_object(
                        'url', :'url' || '/title-cards/' || b.edition_id || '.jpg?v=' || (SELECT e.title_card_version FROM editions e WHERE e.id = b.edition_id)
                    ),
                    'review', CASE WHEN r.id IS NOT NULL
                        THEN json_build_object('rating', r.quarter_stars / 4, 'text', r.text)
                    END
                ) ORDER BY b.added_at DESC, b.id DESC
            )
            FROM shelf_books sb
            JOIN books b ON b.user_id = sb.user_id AND b.id = sb.book_id
            LEFT JOIN reviews r ON r.user_id = b.user_id AND r.book_id = b.id
            WHERE sb.user_id = u.id AND sb.shelf_id = s.id
        ))) ORDER BY s.position, s.id)
        FROM shelves s
        WHERE s.user_id = u.id
    ))
    FROM users u
    WHERE u.id = :'user'
));
