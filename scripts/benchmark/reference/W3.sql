SELECT json_build_object('feed', json_build_object('nodes', (
    SELECT json_agg(
        json_build_object(
            'id', e.id, 'title', e.title,
            'authors', (SELECT json_agg(json_build_object('name', name) ORDER BY n) FROM unnest(e.authors) WITH ORDINALITY a (name, n)),
            'genres', (SELECT json_agg(json_build_object('name', name) ORDER BY n) FROM unnest(e.genres) WITH ORDINALITY g (name, n)),
            'averageRating', e.average_rating, 'ratingsCount', e.ratings_count,
            'pageCount', e.page_count, 'hook', e.hook,
            'image', json_build_object('url', :'url' || '/title-cards/' || e.id || '.jpg?v=' || e.title_card_version)
        ) ORDER BY shown.n
    )
    FROM unnest(:'cards'::uuid[]) WITH ORDINALITY shown (id, n)
    JOIN editions e ON e.id = shown.id
)));
