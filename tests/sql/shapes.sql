-- Shapes of queries: tests/cli/shapes.rs puts each to one process, to a cluster and to SQLite. Blank lines separate
-- them. {p} has the positions of games, with null in some columns, {q} positions without games. SQLite gets what follows
-- a line "-- sqlite:", if any. An outermost "order by" is compared in order. "-- one process: REASON" is for
-- what a cluster does not answer: there, the error must have REASON in it.

-- Set operations with all copies of a row.

select legal_moves from {p} where legal_moves < 20 intersect all select legal_moves from {q}
-- sqlite:
select legal_moves from (select legal_moves, row_number() over (partition by legal_moves) from p where legal_moves < 20 intersect select legal_moves, row_number() over (partition by legal_moves) from q)

select legal_moves from {q} intersect all select legal_moves from {p} where legal_moves < 20
-- sqlite:
select legal_moves from (select legal_moves, row_number() over (partition by legal_moves) from q intersect select legal_moves, row_number() over (partition by legal_moves) from p where legal_moves < 20)

select legal_moves from {p} except all select legal_moves from {q}
-- sqlite:
select legal_moves from (select legal_moves, row_number() over (partition by legal_moves) from p except select legal_moves, row_number() over (partition by legal_moves) from q)

select score, stm from {p} except all select score, stm from {p} where ply < 20
-- sqlite:
select score, stm from (select score, stm, row_number() over (partition by score, stm) from p except select score, stm, row_number() over (partition by score, stm) from p where ply < 20)

select score from {p} intersect all select score from {p} where game < 3
-- sqlite:
select score from (select score, row_number() over (partition by score) from p intersect select score, row_number() over (partition by score) from p where game < 3)

select count(*), count(score) from (select score from {p} except all select score from {p} where score > 0) t
-- sqlite:
select count(*), count(score) from (select score, row_number() over (partition by score) from p except select score, row_number() over (partition by score) from p where score > 0)

select phase from {p} except all select phase from {q} except all select phase from {p} where ply > 30
-- sqlite:
select phase from (select phase, row_number() over (partition by phase) from (select phase from (select phase, row_number() over (partition by phase) from p except select phase, row_number() over (partition by phase) from q)) except select phase, row_number() over (partition by phase) from p where ply > 30)

select distinct stm from {p} intersect all select stm from {p}
-- sqlite:
select distinct stm from p

select phase from {p} where stm = 'w' except all (select phase from {p} where stm = 'b' union all select 24)
-- sqlite:
select phase from (select phase, row_number() over (partition by phase) from p where stm = 'w' except select phase, row_number() over (partition by phase) from (select phase from p where stm = 'b' union all select 24))

-- Set operations.

select legal_moves from {p} intersect select legal_moves from {q}

select legal_moves, stm from {p} except select legal_moves, stm from {q}

select score from {p} intersect select score from {p} where score is null

select score from {p} except select score from {p} where score is null

select phase from {p} union select phase from {q}

select count(*) from (select phase from {p} union all select phase from {q}) t

select phase from {p} where ply < 2 union all select 7

select 7 union all select phase from {p} where ply < 2

select phase from {p} where ply < 3 union all select 7 union all select legal_moves from {q} where legal_moves < 5

select 1 union all select 2 union select 2

select phase, stm from {p} union select phase, 'x' from {q} order by phase desc, stm

select phase from {p} union all select phase from {q} order by phase limit 7

select phase from {p} union all select phase from {q} order by phase desc limit 5 offset 640

select * from (select phase from {p} intersect select phase from {q}) t order by phase limit 3

select * from (select phase from {p} except select phase from {q}) t order by phase desc limit 3

select phase, count(*) from (select phase from {p} union all select phase from {q}) t group by phase having count(*) > 20

select count(*) from {p} where phase in (select phase from {q} union select 3)

select stm, avg(n) from (select stm, count(*) as n from {p} group by stm, game union all select stm, 0 from {q} where phase < 3) t group by stm

select max(score) from {p} union all select min(score) from {p} union all select count(score) from {p}

-- NOT IN, IN and null.

select count(*) from {p} where nullif(legal_moves, 20) not in (select legal_moves from {q} where legal_moves > 30)

select count(*) from {p} where legal_moves not in (select nullif(legal_moves, 20) from {q})

select count(*) from {p} where legal_moves not in (select legal_moves from {q})

select count(*) from {p} where score not in (select score from {p} where score > 50)

select count(*) from {p} where score not in (select score from {p})

select count(*) from {p} where score not in (select legal_moves from {q})

select count(*) from {p} where not (score in (select legal_moves from {q}))

select count(*) from {p} where score not in (select score from {p} where score > 50) or ply < 10

select count(*) from {p} where (score in (select score from {p} where score > 50)) is null

select count(*) from {p} where (score in (select score from {p} where ply > 20)) is not true

select count(*) from {p} where score in (select score from {p} where score > 50) or ply < 3

select count(*) from {p} where not (score in (select score from {p} where score > 50) and ply < 30)

select count(*) from {p} where case when score in (select score from {p} where score > 50) then 1 when score not in (select score from {p} where score > 50) then 2 else 3 end = 3

select count(*) from {p} where 7 not in (select score from {p})

select count(*) from {p} where 7 not in (select score from {p} where score is not null)

select count(*) from {p} where null not in (select legal_moves from {q})

select count(*) from {p} where null not in (select legal_moves from {q} where legal_moves > 1000)

select count(*) from {p} where nullif(1, 1) not in (select legal_moves from {q}) or ply = 5
-- one process: cannot carry out this query

select count(*) from {p} where score not in (select score from {q} where phase > 100)

select count(*) from {p} as a where a.score not in (select b.score from {p} as b where b.game = a.game and b.ply < 12)

select count(*) from {p} as a where a.legal_moves not in (select b.score from {p} as b where b.game = a.game)

select count(*) from {p} as a where 3 not in (select b.score from {p} as b where b.ply > a.ply)

select count(*) from {p} as a where a.score not in (select b.score from {p} as b where b.game <> a.game) or a.ply = 1

select game, count(*) from {p} group by game having nullif(count(*), 50) not in (select legal_moves from {q})

select count(*) from {p} where abs(score) not in (select abs(score) from {p} where score is not null)

select count(*) from {p} where score not in (select max(score) from {p} group by game)

select count(*) from {p} where score not in (1, 2, null)

select count(*) from {p} where score in (30, 31, null) or score is null

select count(*) from (select * from {p} where score not in (select score from {p} where score > 50)) t where ply > 10

select count(*) from {p} where phase in (select phase from {q} order by phase limit 3)

select count(*) from {p} where phase not in (select distinct phase from {q} where phase < 20)

select count(*) from {p} as a where exists (select 1 from {q} as b where b.legal_moves not in (select score from {p} where score is not null) and b.phase = a.phase)

select count(*) from {p} as a join {q} as b on a.phase = b.phase and a.score not in (select score from {p} where score > 50)

-- EXISTS.

select count(*) from {p} as a where exists (select 1 from {q} as b where b.phase = a.phase and b.legal_moves = a.legal_moves)

select count(*) from {p} as a where not exists (select 1 from {q} as b where b.phase = a.phase)

select count(*) from {p} as a where not exists (select 1 from {p} as b where b.score = a.score and b.index <> a.index)
-- sqlite:
select count(*) from p as a where not exists (select 1 from p as b where b.score = a.score and b."index" <> a."index")

select count(*) from {p} as a where exists (select 1 from {p} as b where b.game = a.game and b.ply = a.ply + 1 and b.in_check)

select count(*) from {p} as a where exists (select 1 from {q} as b where b.phase > a.phase + 10) or a.in_check

select count(*) from {p} where exists (select 1 from {q} where phase > 100)

select count(*) from {p} where not exists (select 1 from {q} where phase > 100)

-- Scalar subqueries.

select count(*) from {p} where legal_moves > (select avg(legal_moves) from {q})

select (select max(phase) from {q}), (select min(legal_moves) from {p}), count(*) from {p}

select a.game, a.ply from {p} as a where a.legal_moves = (select max(b.legal_moves) from {p} as b where b.game = a.game) order by 1, 2

select game, (select count(*) from {q} where phase = 0) as n from {p} where ply = 1 order by game

select count(*) from {p} as a where (select count(*) from {q} as b where b.legal_moves = a.legal_moves) = 0

select count(*) from {p} where coalesce((select score from {p} where ply = 999), 5) = 5

-- Joins.

select count(*) from {p} as a join {q} as b on a.legal_moves = b.legal_moves

select count(*), count(b.phase) from {p} as a left join {q} as b on a.legal_moves = b.legal_moves and b.stm = 'w'

select count(*), count(a.phase) from {q} as a right join {p} as b on a.legal_moves = b.legal_moves and a.stm = 'w'

select count(*), count(a.phase), count(b.phase) from {p} as a full join {q} as b on a.legal_moves = b.legal_moves and a.stm = b.stm

select a.game, b.game from (select distinct game from {p}) as a left join (select distinct game from {p} where score is not null) as b on a.game = b.game order by 1 limit 5

select a.game, a.ply, b.ply from {p} as a left join {p} as b on a.game = b.game and b.ply = a.ply + 40 order by a.game desc, a.ply limit 9

select a.g, b.g from (select distinct phase as g from {p}) as a full join (select distinct phase as g from {q}) as b on a.g = b.g order by coalesce(a.g, b.g), a.g nulls first limit 12

select count(*) from {p} as a join {p} as b on a.score = b.score

select count(*) from {p} as a join {p} as b on a.score is not distinct from b.score where a.game = 0 and b.game = 1

select count(*) from {p} as a left join {p} as b on a.score = b.score and a.index <> b.index where b.index is null
-- sqlite:
select count(*) from p as a left join p as b on a.score = b.score and a."index" <> b."index" where b."index" is null

select count(*) from {p} as a join {q} as b on a.phase < b.phase - 10

select count(*) from {p} as a, {q} as b where a.phase = b.phase and a.stm = b.stm and a.ply < 20

select count(*) from (select game from {p} where ply < 3) as a cross join (select phase from {q} where phase < 5) as b

select count(*) from {p} as a join {q} as b using (legal_moves, stm)

select count(*) from {p} as a join {q} as b on a.phase = b.phase join {p} as c on c.index = a.index + 1 where a.ply < 30
-- sqlite:
select count(*) from p as a join q as b on a.phase = b.phase join p as c on c."index" = a."index" + 1 where a.ply < 30

select count(*) from {p} as a left join {q} as b on a.phase = b.phase and false

select count(*), sum(b.n) from {p} as a left join (select phase, count(*) as n from {q} group by phase) as b on a.phase = b.phase

select count(*) from {p} as a left join {q} as b on a.phase = b.phase where b.phase is null or b.legal_moves > 30

select a.stm, count(b.score) from (select distinct stm from {p}) as a left join {p} as b on a.stm = b.stm and b.score > 20 group by a.stm order by a.stm

-- Windows.

select game, ply, row_number() over (partition by game order by ply) from {p} where ply < 4 order by 1, 2

select game, ply, lag(legal_moves) over (partition by game order by ply), lead(legal_moves, 2, -1) over (partition by game order by ply) from {p} where ply < 5 order by 1, 2

select game, ply, sum(legal_moves) over (partition by game order by ply rows between 1 preceding and 1 following) from {p} where game < 2 order by 1, 2

select phase, rank() over (order by phase), dense_rank() over (order by phase) from {p} where game = 0 and ply < 9

select distinct game, first_value(phase) over (partition by game order by ply), max(score) over (partition by game) from {p}

select count(*) from (select row_number() over (partition by game order by legal_moves desc, ply) as r from {p}) t where r <= 3

select game, ply, ntile(4) over (partition by game order by ply) from {p} where game = 3 order by ply

select game, count(*) over (), sum(count(*)) over (order by game) from {p} group by game order by game

select phase, ply, sum(score) over (order by ply, phase, game rows unbounded preceding) from {p} where game = 1 order by ply

-- Grouping.

select game, count(*), min(score), max(score), sum(score), avg(score) from {p} group by game order by game

select stm, in_check, count(*) from {p} group by stm, in_check

select count(*), count(score), count(distinct score), count(distinct stm) from {p}

select stm, count(distinct phase), sum(distinct phase) from {p} group by stm

select count(*) filter (where in_check), sum(legal_moves) filter (where score is null), max(score) filter (where stm = 'b') from {p}

select score, count(*) from {p} group by score order by 2 desc, 1 nulls first limit 6

select phase / 8, count(*) from {p} group by phase / 8 having count(*) > 100 order by 1

select count(*), sum(phase), avg(phase), max(score) from {q} where phase > 100

select phase, count(*) from {q} where phase > 100 group by phase

select case when score > 0 then 'w' when score < 0 then 'b' else '-' end as c, count(*) from {p} group by c

select stm, in_check, count(*) from {p} group by grouping sets ((stm), (in_check), ())
-- sqlite:
select stm, null, count(*) from p group by stm union all select null, in_check, count(*) from p group by in_check union all select null, null, count(*) from p

select stm, phase / 8, count(*) from {p} group by rollup (stm, phase / 8)
-- sqlite:
select stm, phase / 8, count(*) from p group by 1, 2 union all select stm, null, count(*) from p group by stm union all select null, null, count(*) from p

select stm, in_check, sum(phase) from {p} group by cube (stm, in_check)
-- sqlite:
select stm, in_check, sum(phase) from p group by 1, 2 union all select stm, null, sum(phase) from p group by stm union all select null, in_check, sum(phase) from p group by in_check union all select null, null, sum(phase) from p

select array_to_string(array_agg(distinct phase order by phase), ',') from {p}
-- sqlite:
select group_concat(phase, ',') from (select distinct phase from p order by phase)

select game, array_to_string(array_agg(distinct stm order by stm desc), ',') from {p} group by game order by game
-- sqlite:
select game, 'w,b' from p group by game order by game

select game, array_to_string(array_agg(legal_moves order by ply), ',') from {p} where ply < 6 group by game order by game
-- sqlite:
select game, group_concat(legal_moves, ',') from (select * from p where ply < 6 order by game, ply) group by game order by game

select string_agg(stm, '' order by ply) from {p} where game = 2
-- sqlite:
select group_concat(stm, '') from (select * from p where game = 2 order by ply)

select first_value(legal_moves order by ply), last_value(legal_moves order by ply) from {p} where game = 4
-- sqlite:
select (select legal_moves from p where game = 4 order by ply limit 1), (select legal_moves from p where game = 4 order by ply desc limit 1)

-- DISTINCT, ORDER BY, LIMIT.

select distinct stm, in_check from {p}

select distinct score from {p} order by score nulls first limit 5

select distinct on (game) game, ply, legal_moves from {p} order by game, legal_moves desc, ply
-- sqlite:
select game, ply, legal_moves from (select *, row_number() over (partition by game order by legal_moves desc, ply) as r from p) where r = 1 order by game

select game, ply, score from {p} order by score desc nulls last, game, ply limit 10

select game, ply, score from {p} order by score nulls first, game desc, ply limit 10 offset 5

select phase from {p} limit 0

select phase, stm from {p} where false

select count(*) from (select phase from {p} limit 10 offset 640) t

select count(*) from (select phase from {p} limit 10) t

select game, ply from {p} order by game, ply offset 640
-- sqlite:
select game, ply from p order by game, ply limit -1 offset 640

select legal_moves from {p} order by legal_moves desc, ply limit 1

-- WITH, VALUES, LATERAL.

with t as (select game, count(*) as n from {p} group by game) select count(*), max(n) from t where n > (select avg(n) from t)

with a as (select phase from {p}), b as (select phase from a where phase > 10) select count(*) from b where phase in (select phase from a where phase < 15)

with v(x) as (values (1), (2), (null)) select x from v

with v(x) as (values (20), (30), (null)) select count(*) from {p} where legal_moves in (select x from v)

with v(x) as (values (20), (30), (null)) select count(*) from {p} where legal_moves not in (select x from v)

with v(x) as (values (20), (30), (null)) select x, count(p.phase) from v left join {p} as p on p.legal_moves = v.x group by x

with recursive r(n) as (select 1 union all select n + 1 from r where n < 5) select sum(n) from r
-- one process: recursive queries

select g.game, m.x from (select distinct game from {p}) as g, lateral (select max(b.legal_moves) as x from {p} as b where b.game = g.game) as m order by 1
-- sqlite:
select game, max(legal_moves) from p group by game order by 1

-- Expressions.

select count(*) from {p} where score between -20 and 20

select count(*) from {p} where score not between -20 and 20 or score is null

select count(*) from {p} where move like 'e_e%' and san not like '%x%'

select sum(case score when 0 then 1 else 0 end), sum(case when score is null then 1 end), count(case when in_check then 1 end) from {p}

select cast(score as text), cast(legal_moves as double) / 2 from {p} where score is not null and ply < 5

select coalesce(score, -1000), nullif(phase, 24), abs(score) from {p} where ply between 20 and 23

select count(*) from {p} where score is distinct from 20

select count(*) from {p} where not (score > 0)

select count(*) from {p} where (score > 0) is not true

select count(*) from {p} where score > 0 or null

select upper(stm) || '-' || cast(ply as text), length(san) from {p} where game = 0 and ply < 6

select count(*) from {p} where score = any (select score from {p} where score > 50)
-- sqlite:
select count(*) from p where score in (select score from p where score > 50)

select count(*) from {p} where score > all (select score from {p} where ply < 20 and score is not null)
-- sqlite:
select count(*) from p where score > (select max(score) from p where ply < 20)

select count(*) from {p} where score <> all (select score from {p} where ply < 20)
-- sqlite:
select count(*) from p where score not in (select score from p where ply < 20)

select count(*) from {p} where legal_moves >= any (select phase + 20 from {q}) and phase < all (select phase from {q} where phase > 22)
-- sqlite:
select count(*) from p where legal_moves >= (select min(phase) + 20 from q) and phase < (select min(phase) from q where phase > 22)

select phase from {p} where phase in (select phase from {q}) order by phase nulls first limit 5

select * from (select phase from {p} intersect select phase from {q}) t order by phase nulls first limit 3

select count(*), min(a.fen), max(b.fen) from {p} a left join {p} b on a.fen = b.fen and a.ply > 3
