-- What compare.py asks of lanefish and of DuckDB. Blank lines separate queries; {name} is a table of compare.py.
-- DuckDB gets what follows a line "-- duckdb:", if there is one. After a comment "-- in order", rows must come in the
-- order of the records; an outermost "order by" is compared in order, too, everything else in any order. What a cluster
-- cannot answer has the comment "-- one process".

-- Whole records of every format.

-- in order
select * from {bratko}

-- in order
select * from {terminal} where checkmate or stalemate or double_check

-- in order
select * from {stalemates} where legal_moves <= 3 and stm = 'b'

-- in order
select * from {cozy_valid} where castling not in ('-', 'KQkq')

-- in order
select * from {cozy_invalid}

-- in order
select * from {frc_starts}

-- in order
select * from {frc_moves} where en_passant <> '-' or legal_castles > 1

-- in order
select * from {dfrc} where legal_moves > 20

-- in order
select * from {epd} where legal_captures >= 4 and not in_check

-- in order
select * from {popular} where stm = 'b' and legal_moves between 28 and 30

-- in order
select * from {uho} where legal_en_passants = 1

-- in order
select * from {endgames} where pieces <= 8

-- in order
select * from {hybrid} where in_check

-- in order
select * from {perft} where legal_promotions > 0

-- in order
select * from {perft_suite}

-- in order
select * from {perft_tricky}

-- in order
select * from {perft_960} where legal_castles > 0

-- in order
select * from {perft_copy} where checkers <> 0

-- in order
select * from {pgn} where ply between 10 and 12

-- in order
select * from {pgn} where mate is not null

-- in order
select * from {awkward} where game in (0, 3, 5, 20) or in_check

-- in order
select * from {pgn_zst} where legal_captures > 6

-- in order
select * from {pgn_gz} where queens = 2 and score is not null

-- in order
select * from {pgn_bz2} where clock < 1000

-- in order
select * from {puzzles} where puzzle_rating >= 1500

-- in order
select * from {puzzles_zst} where opening is null and stm = 'w'

-- in order
select * from {evals} where score < 0

-- in order
select * from {evals_sample}

-- in order
select * from {boards} where game = 7

-- in order
select * from {boards_zst} where mate is not null or score > 300

-- in order
select * from {parquet} where result = '1/2-1/2' and halfmove > 20

-- in order
select * from {parquet_fen} where themes like '%mateIn2%'

-- in order
select * from {arrow} where ply = 0

-- in order
select * from {arrows} where score is null

-- in order
select * from {perft_files} where phase = 24

-- in order
select * from {awkward_directory} where checkmate

-- Projection and expressions.

-- in order
select index, fen, san from {pgn}

-- in order
select fen, fen as again, index, index as number from {terminal}

-- in order
select material_white - material_black as balance, -material_black as minus, pieces * 2 + 1 as odd from {epd}

-- in order
select legal_moves - 300 as few, checkers - 1 as one_less, 0 - halfmove as clock, white_elo - black_elo as gap
from {pgn}

-- in order
select index, 'constant' as text, 1 as number, null as nothing, true as flag from {bratko}

-- in order
select legal_moves % 7 as remainder, legal_moves * 1.0 / pieces as ratio, sqrt(pieces) as root, power(queens, 3) as cube
from {endgames} where index < 2000

-- in order
select index from {popular} limit 10 offset 5000

-- in order
select fen, in_check, key from {boards} limit 7

-- in order
select index, ply from {pgn} where ply > 100 limit 20 offset 30

select index from {epd} limit 0

select index from {epd} offset 29990

select index from {terminal} limit 5 offset 100000

-- in order
select index, stm from (select * from {uho} limit 500) as first where castling = 'KQkq'

-- in order
select index from (select index, legal_moves from {epd} where legal_moves > 25 limit 300) as first where index % 2 = 0

-- Conditions: numbers.

select count(*) from {pgn} where legal_moves > 40

select count(*) from {pgn} where 40 >= legal_moves

select count(*) from {pgn} where legal_moves <> 20

select count(*) from {pgn} where pieces between 8 and 12

select count(*) from {pgn} where pieces not between 8 and 12

select count(*) from {pgn} where pieces between 12 and 8

select count(*) from {pgn} where phase in (0, 1, 2, 3, 24, 24, 700, -1)

select count(*) from {pgn} where phase not in (0, 1, 2, 3, 24)

select count(*) from {pgn} where phase in (0, 24, null)

select count(*) from {pgn} where phase not in (0, 24, null)

select count(*) from {pgn} where pieces > 255 or legal_moves > 65535 or legal_moves < 0

select count(*) from {pgn} where pieces < 300 and legal_moves > -1 and key >= 0 and score > -40000

select count(*) from {pgn} where score < -100

select count(*) from {pgn} where score <> 0

select count(*) from {pgn} where not score > 50

select count(*) from {pgn} where score not in (0, 17, 18)

select count(*) from {evals} where score between -20 and 20 or mate < 0

select count(*) from {pgn} where legal_moves > 30.5 and legal_moves < 33.25

select count(*) from {pgn} where white_elo > black_elo + 100

select count(*) from {pgn} where attacked_white > attacked_black and mobility_white <= mobility_black

select count(*) from {popular} where legal_moves * 2 > 60 and pieces + pawns < 45

select index, key from {endgames} where key > 18400000000000000000

select index, key from {endgames} where key between 9223372036854775807 and 9300000000000000000

-- in order
select index from {epd} where index in (0, 1, 29999, 30000, 18446744073709551615)

select count(*) from {boards} where clock >= 30000 and clock < 30100

-- Conditions: flags.

select count(*) from {pgn} where in_check

select count(*) from {pgn} where not in_check

select count(*) from {pgn} where in_check = true and checkmate = false

select count(*) from {pgn} where in_check <> false

select count(*) from {pgn} where in_check is not true

select count(*) from {terminal} where checkmate is true or stalemate is false

select count(*) from {terminal} where (in_check or stalemate) and not (double_check and checkmate)

select count(*) from {pgn} where in_check = (legal_moves < 5)

select count(*) from {pgn} where true

select count(*) from {pgn} where false

select count(*) from {pgn} where null

-- Conditions: texts.

select count(*) from {pgn} where result = '1-0'

select count(*) from {pgn} where '1-0' <> result

select count(*) from {pgn} where termination in ('Normal', 'Abandoned', 'normal')

select count(*) from {pgn} where termination not in ('Normal', 'Time forfeit')

select count(*) from {awkward} where result not in ('1-0', '0-1')

select count(*) from {awkward} where eco <> 'C20'

select index, site from {awkward} where site is null or white is null limit 400

select count(*) from {pgn} where opening like 'Sicilian%'

select count(*) from {pgn} where opening not like '%Defense%'

select count(*) from {pgn} where san like '_x__+'

select count(*) from {pgn} where opening ilike '%QUEEN''s%'

select count(*) from {pgn} where white >= 'M' and white < 'P'

select count(*) from {pgn} where eco between 'B10' and 'B19'

select count(*) from {puzzles} where themes like '%fork%' and opening is not null

select white, count(*) from {awkward} where white > 'a' or white = '' group by white

select count(*) from {pgn} where san in ('O-O', 'O-O-O', 'Nf3', 'e4')

select count(*) from {pgn} where castling = 'KQkq' and en_passant <> '-'

select count(*) from {bratko} where operations like '%bm d5;%'

select count(*), count(operations) from {hybrid} where operations is null

select distinct eco from {pgn} where eco > 'D'

select count(*) from {pgn} where fen = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1'

select index from {pgn} where fen like '8/8/8/%' and fen not like '% b %'

-- Conditions: dates and nulls.

select count(*) from {pgn} where date = '2025-05-01'

select count(*) from {pgn} where date >= date '2025-05-01'

select date, count(*) from {awkward} where date < '1970-01-01' group by date

select date, count(*) from {awkward} where date between '1990-01-01' and '2005-12-31' group by date

select count(*) from {awkward} where date in (date '1946-03-07', date '1997-05-11', date '1900-01-01')

select count(*) from {awkward} where date is null

select count(*) from {awkward} where date is not null and white_elo is null

select count(*) from {pgn} where score is null and mate is null

select count(*) from {pgn} where not (score is null or clock is null)

select count(*) from {awkward} where white_elo is distinct from black_elo

select count(*) from {awkward} where white_elo is not distinct from black_elo

select count(*) from {pgn} where (score is distinct from 0) and (mate is not distinct from null)

select count(*) from {pgn} where coalesce(score, 0) > 100

select count(*) from {pgn} where index is null or fen is null or in_check is null

select count(*) from {puzzles} where score is null and game is null and puzzle_id is not null

-- Groups.

select phase, count(*), avg(legal_moves) from {pgn} where in_check group by phase order by phase

select result, termination, count(*), count(distinct game) from {pgn} group by result, termination

select in_check, checkers, min(legal_moves), max(legal_moves), sum(legal_moves) from {boards}
group by in_check, checkers

select eco, count(*) as positions from {pgn} group by eco having count(*) > 300 order by positions desc, eco limit 12

select white_king, black_king, count(*) from {endgames} group by 1, 2 having count(*) > 9

select score is null as unknown, count(*), count(score), count(mate), sum(score), min(score), max(score) from {pgn}
group by score is null

select date, count(distinct white), min(date), max(date) from {awkward} group by date

select game, max(ply), max(fullmove), min(clock) from {pgn} group by game having max(ply) >= 150

select stm, stddev(legal_moves), stddev_pop(legal_moves), var_samp(legal_moves), var_pop(legal_moves) from {popular}
group by stm

select phase, median(cast(legal_moves as double)), corr(mobility_white, mobility_black) from {pgn}
where phase >= 4 group by phase

select count(*), count(distinct fen), count(distinct key), count(distinct castling) from {pgn}

select count(*), sum(score), avg(score), min(san), max(san) from {bratko}

select count(*), sum(legal_moves), min(fen), max(key) from {pgn} where pieces = 1

select sum(legal_moves), sum(cast(in_check as integer)), avg(cast(in_check as double)) from {arrow}

select count(*) filter (where in_check) as checks, sum(legal_moves) filter (where stm = 'w') as white from {parquet}

select bit_and(attacks_white), bit_or(attacks_black), bit_xor(key), bool_and(in_check), bool_or(checkmate) from {pgn}

select phase / 8 as third, count(*) from {pgn} group by phase / 8 order by third
-- duckdb:
select phase // 8 as third, count(*) from {pgn} group by phase // 8 order by third

select case when pieces > 24 then 'opening' when pieces > 12 then 'middlegame' else 'endgame' end as stage,
  count(*), avg(legal_moves) from {pgn} group by stage

select result, in_check, count(*) from {pgn} group by rollup(result, in_check)

select result, stm, count(*) from {pgn} group by grouping sets ((result), (stm), ())

select castling, count(*) from {cozy_valid} group by castling order by count(*) desc, castling limit 25

select sum(knights), sum(bishops), sum(rooks), sum(queens), sum(pawns), sum(pieces) from {perft_files}

select string_agg(distinct castling, ',' order by castling) from {frc_moves}

select first_value(san order by ply desc) as last, game from {pgn} where game < 30 group by game
-- duckdb:
select last(san order by ply) as last, game from {pgn} where game < 30 group by game

-- Order.

select index, legal_moves from {pgn} order by legal_moves desc, index limit 25

select index, score from {pgn} where game < 40 order by score, index limit 40 offset 10

select index, score from {pgn} where game < 40 order by score desc, index limit 40

select index, mate from {evals} order by mate nulls first, index desc limit 30 offset 2000

select index, mate from {evals} order by mate desc nulls last, index limit 30

select index, white from {awkward} where ply = 0 order by white, index

select key from {endgames} order by key desc limit 20

select index, date from {awkward} where ply = 1 order by date, index

select index, abs(material_white - material_black) as gap from {boards} order by gap desc, 1 limit 15

select san, count(*) from {pgn} where ply = 0 group by san order by 2 desc, 1

-- Distinct values and sets of rows.

select distinct stm, in_check, checkers from {pgn}

select distinct time_control from {pgn} order by time_control

select distinct on (game) game, ply, san from {pgn} where in_check order by game, ply

select stm, count(*) from {terminal} group by stm union all select stm, count(*) from {stalemates} group by stm

select fen from {terminal} where checkmate union select fen from {puzzles} where in_check

select key from {popular} intersect select key from {hybrid}

select key from {terminal} except select key from {stalemates}

select 'terminal' as source, legal_moves from {terminal} where pieces < 6
union all select 'endgames', legal_moves from {endgames} where pieces < 6 order by 1, 2

-- Subqueries and common table expressions.

select count(*) from {pgn} where legal_moves > (select avg(legal_moves) from {pgn})

select count(*) from {pgn} where game in (select game from {pgn} where checkmate)

select count(*) from {pgn} where game not in (select game from {pgn} where in_check)

select count(distinct game) from {pgn} as one
where exists (select 1 from {pgn} as other where other.game = one.game and other.double_check)

select count(distinct game) from {pgn} as one
where not exists (select 1 from {pgn} as other where other.game = one.game and other.queens = 0)

select game, ply, legal_moves from {pgn} as one
where game < 50 and legal_moves = (select max(legal_moves) from {pgn} as other where other.game = one.game)

select max(positions), avg(positions) from (select game, count(*) as positions from {pgn} group by game) as games

with mates as (select game, max(ply) as plies from {pgn} where checkmate group by game)
select plies, count(*) from mates group by plies order by plies

with checks as (select game, ply from {pgn} where in_check), quiet as (select game, ply from {pgn} where not in_check)
select (select count(*) from checks) as checks, (select count(*) from quiet) as quiet, count(distinct game) as games
from checks

-- one process
with recursive plies as (select 0 as ply union all select ply + 1 from plies where ply < 9)
select plies.ply, count(p.index) from plies left join {pgn} as p on p.ply = plies.ply group by plies.ply order by 1

-- Joins.

select p.index, p.san, q.index from {pgn} as p join {parquet} as q on p.key = q.key and p.game = q.game
where p.ply > 60 and q.halfmove > 10

select count(*) from {pgn} as p join {parquet} as q on p.fen = q.fen

select a.game, a.ply, a.san, b.san from {pgn} as a join {pgn} as b on a.game = b.game and b.ply = a.ply + 1
where a.in_check and b.in_check

select count(*), count(b.index) from {pgn} as a left join {pgn} as b
  on a.game = b.game and a.ply = b.ply - 2 and a.castling <> b.castling

select p.index, e.index, e.score from {pgn} as p right join {evals} as e on p.fen = e.fen where e.index < 300

select count(p.index), count(q.index), count(*) from {popular} as p full join {hybrid} as q on p.key = q.key

select w.player, w.games, count(distinct p.game) from {awkward} as p join {players} as w on p.black = w.player
group by w.player, w.games

select p.player, p.elo, b.black_elo, b.game from {players} as p join {awkward} as b on b.black = p.player
where b.ply = 0 and p.elo is distinct from b.black_elo

select o.name, count(*) from {pgn} as p join {openings} as o on o.name = p.opening and o.eco = p.eco
where p.ply = 0 group by o.name having count(*) > 2

select a.stm, b.stm, count(*) from {perft_tricky} as a cross join {bratko} as b group by a.stm, b.stm

select count(*) from {pgn} as a, {evals} as e where a.fen = e.fen and a.score = e.score

select game, ply, p.legal_moves, a.legal_moves from {pgn} as p join {arrow} as a using (game, ply)
where p.checkers > 1

select a.game, b.game, a.date from {awkward} as a join {awkward} as b on a.date = b.date and a.game < b.game
where a.ply = 0 and b.ply = 0

select count(*) from {terminal} as t where t.key in (select key from {puzzles} union all select key from {terminal})

-- Window functions.

select game, ply, row_number() over (partition by game order by ply) as number,
  lag(san) over (partition by game order by ply) as before,
  lead(san, 2, 'none') over (partition by game order by ply) as later from {pgn} where game < 60

select game, ply, sum(legal_captures) over (partition by game order by ply) as captures,
  avg(legal_moves) over (partition by game order by ply rows between 2 preceding and 2 following) as mean
from {boards} where game between 100 and 140

select index, rank() over (order by legal_moves desc) as rank, dense_rank() over (order by legal_moves desc) as dense,
  ntile(4) over (order by legal_moves desc, index) as quarter from {terminal}

select index, first_value(fen) over (partition by stm order by index) as first,
  count(*) over (partition by stm) as all_of_them, max(pieces) over () as most from {bratko}

select game, ply, score, score - lag(score) over (partition by game order by ply) as change from {pgn}
where score is not null order by game, ply

select * from (select game, ply, clock, row_number() over (partition by game order by clock, ply) as place from {pgn}
  where clock is not null) as clocks where place = 1

select game, san from {pgn} where in_check qualify row_number() over (partition by game order by ply desc) = 1

select index, percent_rank() over (order by pieces) as percent, cume_dist() over (order by pieces) as share
from {cozy_valid}

-- Nulls, case, cast and functions of the engine.

select index, coalesce(score, mate * 1000, 0) as value, nullif(stm, 'w') as black, nullif(legal_moves, 20) as moves
from {pgn} where game < 100

select index, score + mate as sum, score > 0 as better, score > 0 or mate is null as either, white_elo = null as never
from {evals} where index < 1500

select count(*), count(white_elo), count(date), count(eco), count(clock), count(site), count(themes) from {awkward}

select index, upper(san) as upper, lower(white) as lower, length(opening) as length, substr(fen, 1, 8) as start,
  replace(san, 'x', '') as quiet, concat(white, ' - ', black) as players, white || '/' || black as both from {pgn}
where ply < 3

select index, length(white) as letters, octet_length(white) as bytes, reverse(white) as reverse,
  left(white, 3) as "left", right(white, 3) as "right" from {awkward} where ply = 0
-- duckdb:
select index, length(white) as letters, strlen(white) as bytes, reverse(white) as reverse,
  left(white, 3) as "left", right(white, 3) as "right" from {awkward} where ply = 0

select split_part(fen, ' ', 3) as rights, split_part(fen, ' ', 1) as placement, strpos(fen, ' ') as blank, trim(themes)
from {puzzles}

select index from {puzzles} where regexp_like(themes, 'mateIn[1-3]') and starts_with(site, 'https://lichess.org/s')
-- duckdb:
select index from {puzzles} where regexp_matches(themes, 'mateIn[1-3]') and starts_with(site, 'https://lichess.org/s')

-- Thirds are never halfway between two tenths, where programs round differently: -0.15 is no binary fraction.
select index, abs(score) as size, signum(score) as sign, round(score / 30.0, 1) as rounded,
  floor(score / 100.0) as floor, ceil(score / 100.0) as ceil from {evals}
-- duckdb:
select index, abs(score) as size, sign(score) as sign, round(score / 30.0, 1) as rounded,
  floor(score / 100.0) as floor, ceil(score / 100.0) as ceil from {evals}

select index, greatest(attacked_white, attacked_black) as more, least(legal_moves, 10) as few, exp(queens) as exp,
  ln(pieces) as ln from {stalemates}

select cast(legal_moves as text) as moves, cast(substr(time_control, 1, 2) as integer) as time,
  cast(in_check as integer) as bit, cast(legal_moves as double) / 3 as third, cast(date as text) as day
from {pgn} where time_control like '60+%'

select index, case stm when 'w' then material_white - material_black else material_black - material_white end as own,
  case when score > 50 then 'white' when score < -50 then 'black' when score is not null then 'even' end as verdict
from {pgn} where game < 80

select index, sum(case when result = '1-0' then 1.0 when result = '0-1' then 0.0 else 0.5 end) over () as points
from {boards} where ply = 0

select distinct date, extract(year from date) as year, date_part('month', date) as month, extract(day from date) as day,
  extract(dow from date) as weekday from {awkward}

select cast(date_trunc('year', date) as date) as year, count(distinct game) from {awkward} group by 1

select distinct date, cast(date + interval '1 day' as date) as next, date - date '1900-01-01' as days,
  date >= '2000-01-01' as recent from {awkward}

select min(date), max(date), count(distinct date) from {awkward} where date > '1950-01-01'

select result, date is null as undated, count(distinct game) from {awkward} group by 1, 2

-- Squares as bits.

select index, attacks_white & attacks_black as both, attacks_white | attacks_black as either,
  attacks_white ^ attacks_black as one from {terminal}
-- duckdb:
select index, attacks_white & attacks_black as both, attacks_white | attacks_black as either,
  xor(attacks_white, attacks_black) as one from {terminal}

select count(*) from {pgn} where attacks_white & 103481868288 = 103481868288

select count(*) from {pgn} where attacks_black & 18446462598732840960 = 0

select count(*) from {pgn} where (pinned_mask & attacks_white) <> 0 and checkers_mask = 0

select index, attacks_black >> 56 as last_rank, attacks_white & 255 as first_rank, key >> 60 as high from {endgames}
where pieces < 8

select index, (attacks_white << 8) & 65280 as up from {endgames} where pieces < 8
-- duckdb:
select index, ((attacks_white & 255) << 8) & 65280 as up from {endgames} where pieces < 8

select popcount(attacks_white & attacks_black) as contested, count(*) from {pgn} group by 1
-- duckdb:
select bit_count(attacks_white & attacks_black) as contested, count(*) from {pgn} group by 1

select count(*) from {pgn} where popcount(attacks_white) = attacked_white and popcount(attacks_black) = attacked_black
-- duckdb:
select count(*) from {pgn}

select index, key, pinned_mask from {pgn} where popcount(pinned_mask) >= 2
-- duckdb:
select index, key, pinned_mask from {pgn} where bit_count(pinned_mask) >= 2

select bit_or(checkers_mask), bit_or(pinned_mask) from {parquet} where ply % 2 = 0

-- Functions of lanefish.

-- in order
select legal_moves(fen), in_check(fen), attacks_white(fen), attacks_black(fen), key(fen), phase(fen) from {pgn}
where game < 120
-- duckdb:
select legal_moves, in_check, attacks_white, attacks_black, key, phase from {pgn} where game < 120

select index, normalize_fen(fen), castling(fen), en_passant(fen), stm(fen), halfmove(fen), fullmove(fen)
from {cozy_valid}
-- duckdb:
select index, fen, castling, en_passant, stm, halfmove, fullmove from {cozy_valid}

select index, checkmate(fen), stalemate(fen), double_check(fen), checkers(fen), checkers_mask(fen), pinned_mask(fen),
  white_king(fen), black_king(fen) from {terminal}
-- duckdb:
select index, checkmate, stalemate, double_check, checkers, checkers_mask, pinned_mask, white_king, black_king
from {terminal}

select legal_captures(fen), legal_promotions(fen), legal_castles(fen), legal_en_passants(fen), mobility_white(fen),
  mobility_black(fen), attacked_white(fen), attacked_black(fen) from {perft_files}
-- duckdb:
select legal_captures, legal_promotions, legal_castles, legal_en_passants, mobility_white, mobility_black,
  attacked_white, attacked_black from {perft_files}

select pieces(fen), white_pieces(fen), black_pieces(fen), pawns(fen), knights(fen), bishops(fen), rooks(fen),
  queens(fen), material_white(fen), material_black(fen) from {evals}
-- duckdb:
select pieces, white_pieces, black_pieces, pawns, knights, bishops, rooks, queens, material_white, material_black
from {evals}

select phase(fen), count(*), avg(legal_moves(fen)) from {boards} where in_check(fen) group by phase(fen)
-- duckdb:
select phase, count(*), avg(legal_moves) from {boards} where in_check group by phase

select index from {popular} where legal_moves(fen) <> legal_moves or normalize_fen(fen) <> fen
-- duckdb:
select index from {popular} where false

select index, legal_moves(nullif(fen, fen)), in_check('nonsense'), normalize_fen(themes) from {puzzles} limit 5
-- duckdb:
select index, null, null, null from {puzzles} limit 5

select index, matches(fen, '4k3/8/8/8/8/8/8/4K3') from {pgn} where game < 60
-- duckdb:
select index, white_king = 'e1' and black_king = 'e8' from {pgn} where game < 60

select count(*) from {pgn} where matches(fen, '8/8/8/8/8/8/PPPPPPPP/RNBQKBNR')
-- duckdb:
select count(*) from {pgn} where fen like '%/PPPPPPPP/RNBQKBNR %'

select a.index, play(a.fen, a.move) = b.fen, play(a.fen, a.san) = b.fen from {pgn} as a
join {pgn} as b on b.game = a.game and b.ply = a.ply + 1
-- duckdb:
select a.index, true, true from {pgn} as a join {pgn} as b on b.game = a.game and b.ply = a.ply + 1

select player, legal_moves(last_fen), checkmate(last_fen) from {players} where player is not null
-- duckdb:
select player, legal_moves, checkmate from {players} join {awkward} as p on p.fen = last_fen and p.white = player
group by all

-- Tags.

-- in order
select index, "tag:Event", "tag:Round", "tag:WhiteRatingDiff" from {pgn_tags} where ply = 0

select "tag:Event" as event, count(distinct game) from {pgn_tags} group by "tag:Event" order by event

select count(*) from {pgn_tags} where "tag:Event" = 'Rated Blitz game' and "tag:WhiteRatingDiff" is not null

select count(*) from {pgn_tags} where "tag:WhiteRatingDiff" not in ('+5', '-5') and "tag:WhiteRatingDiff" like '+_'

select count(*) from {pgn_tags} where white <> 'one " mark' and "tag:Event" <> 'Rated Blitz game'

select cast("tag:WhiteRatingDiff" as integer) as change, count(*) from {pgn_tags}
where "tag:WhiteRatingDiff" is not null and ply = 0 group by 1 order by 1

-- Files that have no positions.

select * from {players}

select eco, count(*), min(name) from {openings} group by eco order by eco limit 20 offset 100

select p.player, p.games from {players} as p
where p.player not in (select black from {awkward} where ply = 0 and black is not null)
