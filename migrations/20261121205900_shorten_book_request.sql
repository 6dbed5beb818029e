-- Why: opening a request and finding the shelves of a book were more than half of what a book cost here.

-- What a reading request calls where its session has ended; begin_request does the same for a writing one.
create function refuse_session() returns boolean language plpgsql as $$
begin
  raise exception 'the session has ended' using errcode = 'BP401';
end
$$;

-- With the shelf in it, the index alone answers.
create index shelf_books_of_book on shelf_books (user_id, book_id, shelf_id);
drop index shelf_books_book_id;
