//! Arrow files and streams (IPC).

use super::column_map::Column;
use super::decode::ReadColumns;
use super::detect_games_or_positions::{KEY, ReadRows, kind_of, rows_of};
use super::dictionaries::{Dictionaries, number_of};
use super::dictionary_values::{self, DictionaryValues, Known};
use super::fields_from_values::{most_texts, refusal};
use super::ipc_buffer_checks::{self, Needs, Use};
use super::ipc_messages::{CONTINUATION, Kept, Located, MAGIC, Messages, content, damage, message};
use super::panic_guard::guarded;
use super::struct_fields::{fields_of, values_of};
use super::values::{Lists, Numbers};
use super::{
    BYTES_OF_FIELD, BYTES_OF_ROW, DecodeRows, Facts, OpenTable, RowKind, RowPart, ShardOfTable, TableError,
    TableOfGames, TableReader,
};
use crate::columnar::check_columns;
use crate::error::Damage;
use crate::formats::codec::memory_budget::Charge;
use crate::formats::{About, Chunk, Codec, DecodeOptions, Decoded, Layout, Likeness};
use crate::input::{Bytes, RandomAccess};
use crate::table::{Field, Fields};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::MetadataVersion;
use arrow_ipc::reader::RecordBatchDecoder;
use arrow_schema::{DataType, Field as ArrowField, Schema, SchemaRef};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Arrow files and streams with a column of positions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrow;

/// Number of rows of a part, unless rows are long.
const ROWS: u64 = 32 << 10;
/// Number of bytes that a piece of a dictionary takes besides its values.
const BYTES_OF_PIECE: u64 = 512;

impl Codec for Arrow {
    fn about(&self) -> &'static About {
        static ABOUT: About = About {
            name: "arrow",
            title: "Arrow file or stream with a column `fen` or `board`",
            extensions: &["arrow", "arrows", "feather", "ipc"],
            has_games: false,
            can_be_empty: true,
            selects: false,
            carries: Fields::ALL,
        };
        &ABOUT
    }
    fn likeness(&self, head: &[u8]) -> Likeness {
        Likeness::certain_if(head.starts_with(MAGIC) || is_stream(head))
    }
    fn layout(&self) -> Layout {
        Layout::Tables(&Self)
    }
    fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        super::decode(self, chunk, options)
    }
    fn of_games(&self) -> Option<&'static dyn Codec> {
        static ABOUT: About = TableOfGames::about("arrow", "Arrow file or stream with a game in each row");
        static OF_GAMES: TableOfGames = TableOfGames { about: &ABOUT, tables: &Arrow };
        Some(&OF_GAMES)
    }
}

/// Whether bytes are the beginning of a stream: a message whose metadata are plausible.
fn is_stream(head: &[u8]) -> bool {
    let (words, _) = head.as_chunks::<4>();
    let [CONTINUATION, len, root, ..] = words else {
        return false;
    };
    let (len, root) = (u32::from_le_bytes(*len), u32::from_le_bytes(*root));
    len.is_multiple_of(4) && (16..=1 << 26).contains(&len) && (4..len).contains(&root)
}

impl OpenTable for Arrow {
    fn open(
        &self,
        source: RandomAccess,
        options: &DecodeOptions,
        shard: Option<ShardOfTable>,
    ) -> Result<Box<dyn TableReader>, TableError> {
        let mut messages = Messages::open(source)?;
        let schema = &messages.schema;
        check_columns(&schema.fields, &schema.metadata).map_err(|what| damage(0, what))?;
        let numbers = Dictionaries::of(schema).map_err(|what| damage(0, what))?;
        let all = fields_of(messages.schema.fields(), options);
        let columns: Vec<Column> = all.iter().map(|found| found.column.clone()).collect();
        let said = messages.schema.metadata.get(KEY).map(|said| &**said);
        let plan = rows_of(&columns, said, options).map_err(TableError::Columns)?;
        let reads = plan.columns().into_iter().map(|column| ReadField {
            column,
            root: all[column].root,
            path: all[column].path.clone(),
            dictionary: dictionary_in(&as_bytes(&all[column].field)),
        });
        let reads: Arc<[ReadField]> = reads.collect();
        let mut projection: Vec<usize> = reads.iter().map(|read| read.root).collect();
        projection.sort_unstable();
        projection.dedup();
        // Text is read as bytes, so that invalid UTF-8 makes a bad row, not a bad batch.
        let fields = messages.schema.fields().iter().enumerate();
        let fields =
            fields.map(|(at, field)| if projection.contains(&at) { as_bytes(field) } else { Arc::clone(field) });
        messages.schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let schema = Arc::new(numbers_only(&messages.schema, &projection));
        Ok(Box::new(ArrowTable {
            messages,
            schema,
            plan,
            reads,
            projection: projection.into(),
            shard,
            numbers,
            most: options.max_memory,
            texts: most_texts(options),
            keeps_operations: options.fields.contains(crate::table::Field::Operations),
            dictionaries: HashMap::new(),
            replaced: Vec::new(),
            ahead: None,
            first_row: 0,
            number: 0,
            current: None,
            is_of_other: false,
            has_begun: false,
            before_own: None,
            is_over: false,
        }))
    }

    fn facts(&self, source: RandomAccess) -> Result<Facts, Damage> {
        let mut messages = Messages::open(source)?;
        let all = fields_of(messages.schema.fields(), &DecodeOptions::default());
        let columns: Vec<Column> = all.into_iter().map(|found| found.column).collect();
        let kind = kind_of(&columns, messages.schema.metadata.get(KEY).map(|said| &**said));
        let columns = columns.into_iter().map(|column| (column.name, column.data)).collect();
        let (mut rows, mut groups) = (0u64, 0);
        let mut codecs = BTreeSet::new();
        while let Some(message) = messages.next() {
            if let Kept::Batch { rows: count, codec } = message?.kind {
                rows = rows.saturating_add(count);
                groups += 1;
                codecs.extend(codec);
            }
        }
        Ok(Facts { rows, groups, columns, codecs: codecs.into_iter().map(str::to_owned).collect(), kind })
    }
}

/// A field with another type for some types within its own; the first that fits is replaced as a whole.
fn with_types(field: &Arc<ArrowField>, replaced: &impl Fn(&DataType) -> Option<DataType>) -> Arc<ArrowField> {
    let of = |field: &Arc<ArrowField>| with_types(field, replaced);
    let data = field.data_type();
    let new = replaced(data).unwrap_or_else(|| match data {
        DataType::List(values) => DataType::List(of(values)),
        DataType::LargeList(values) => DataType::LargeList(of(values)),
        DataType::ListView(values) => DataType::ListView(of(values)),
        DataType::LargeListView(values) => DataType::LargeListView(of(values)),
        DataType::FixedSizeList(values, len) => DataType::FixedSizeList(of(values), *len),
        DataType::Map(entries, is_sorted) => DataType::Map(of(entries), *is_sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(of).collect()),
        other => other.clone(),
    });
    Arc::new(field.as_ref().clone().with_data_type(new))
}

/// The field with bytes in place of strings, which have the same layout.
fn as_bytes(field: &Arc<ArrowField>) -> Arc<ArrowField> {
    fn bytes(data: &DataType) -> Option<DataType> {
        match data {
            DataType::Utf8 => Some(DataType::Binary),
            DataType::LargeUtf8 => Some(DataType::LargeBinary),
            DataType::Utf8View => Some(DataType::BinaryView),
            DataType::Dictionary(keys, values) => {
                let values = bytes(values).unwrap_or_else(|| (**values).clone());
                Some(DataType::Dictionary(keys.clone(), Box::new(values)))
            }
            _ => None,
        }
    }
    with_types(field, &bytes)
}

/// The columns that are read, with the numbers of values in place of dictionaries.
fn numbers_only(schema: &Schema, projection: &[usize]) -> Schema {
    let numbers = |data: &DataType| match data {
        DataType::Dictionary(keys, _) => Some((**keys).clone()),
        _ => None,
    };
    let fields = schema.fields().iter().enumerate();
    let fields = fields
        .map(|(at, field)| if projection.contains(&at) { with_types(field, &numbers) } else { Arc::clone(field) });
    Schema::new(fields.collect::<Vec<_>>())
}

/// A column that is read, or a field of one.
#[derive(Clone, Debug)]
struct ReadField {
    /// Its number among the columns of the plan.
    column: usize,
    /// The number of the column of the file, and those of the fields on the way down.
    root: usize,
    path: Vec<usize>,
    /// The dictionary of its values, or of the values of its lists.
    dictionary: Option<(i64, DataType)>,
}

/// The number of the dictionary of a field, or of the elements of its lists, and the type of its values.
fn dictionary_in(field: &ArrowField) -> Option<(i64, DataType)> {
    match field.data_type() {
        DataType::Dictionary(_, values) => Some((number_of(field)?, (**values).clone())),
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::ListView(element)
        | DataType::LargeListView(element)
        | DataType::FixedSizeList(element, _) => dictionary_in(element),
        _ => None,
    }
}

#[derive(Debug)]
struct ArrowTable {
    messages: Messages,
    /// The schema with which batches are decoded: it has numbers in place of the values of dictionaries.
    schema: SchemaRef,
    plan: Arc<dyn ReadRows>,
    /// What is read, in the order of the plan.
    reads: Arc<[ReadField]>,
    /// Numbers of the columns of the file that are read, in ascending order.
    projection: Arc<[usize]>,
    shard: Option<ShardOfTable>,
    /// The dictionaries that may occur.
    numbers: Dictionaries,
    /// The memory limits for everything, and for the texts of a part.
    most: u64,
    texts: u64,
    /// Whether operations after positions are read.
    keeps_operations: bool,
    /// The dictionaries that apply to the next batch.
    dictionaries: HashMap<i64, Dictionary>,
    /// Dictionaries that were replaced before they were checked.
    replaced: Vec<Dictionary>,
    /// A message that waits until the dictionaries before it are checked.
    ahead: Option<Option<Result<Located, Damage>>>,
    first_row: u64,
    number: usize,
    current: Option<Current>,
    /// Whether that lies in another shard.
    is_of_other: bool,
    /// Whether a batch of the shard has been read.
    has_begun: bool,
    /// The last batch before the shard, if games are taken as wholes.
    before_own: Option<Current>,
    is_over: bool,
}

/// A dictionary, as far as it has been read.
#[derive(Debug)]
struct Dictionary {
    known: Known,
    /// The number of pieces that have been handed out to be checked, and the place of the next one.
    checked: usize,
    place: u64,
    /// The charged bytes of its pieces, and the charges of those that are not checked yet.
    bytes: u64,
    charges: Vec<Arc<Charge>>,
}

/// The batch that is being divided.
#[derive(Debug)]
struct Current {
    batch: Arc<Batch>,
    /// The next row of the current batch.
    row: u64,
}

/// A record batch of a file, decoded when it is first needed.
struct Batch {
    source: Arc<RandomAccess>,
    schema: SchemaRef,
    version: MetadataVersion,
    plan: Arc<dyn ReadRows>,
    reads: Arc<[ReadField]>,
    projection: Arc<[usize]>,
    /// The dictionaries of what is read.
    words: Vec<Option<Known>>,
    at: Located,
    first: u64,
    rows: u64,
    number: usize,
    charge: Arc<Charge>,
    /// The memory that a part needs for its texts.
    texts: u64,
    /// The batch, or the error; the error is `None` if it was reported with a dictionary.
    decoded: OnceLock<Result<RecordBatch, Option<String>>>,
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Batch").field(&self.at).finish()
    }
}

/// Dictionaries that are decoded, so that their damage is reported once, whichever part needs them.
#[derive(Debug)]
struct Checks(Vec<(Known, usize)>);

impl DecodeRows for Checks {
    fn decode(&self, _: Range<u64>, _: &Chunk, _: &DecodeOptions) -> Decoded {
        let mut decoded = Decoded::default();
        for (known, from) in &self.0 {
            // An earlier piece has been reported.
            if let Err((number, what)) = known.words.decode(known.pieces)
                && number >= *from
            {
                decoded.damage.push(damage(0, format!("a dictionary: {what}")));
            }
        }
        decoded
    }
}

impl ArrowTable {
    /// The values of a dictionary, if it is one of a column that is read.
    fn needs(&self, id: i64) -> Option<&DataType> {
        let mut dictionaries = self.reads.iter().filter_map(|read| read.dictionary.as_ref());
        dictionaries.find(|(number, _)| *number == id).map(|(_, values)| values)
    }

    fn dictionary(&mut self, at: Located) -> Result<(), String> {
        let source = Arc::clone(&self.messages.source);
        let head = source.bytes(at.place..at.place + at.head).map_err(|error| error.to_string())?;
        let message = message(&head)?;
        let batch = message.header_as_dictionary_batch().ok_or("a dictionary is missing")?;
        let id = batch.id();
        let replaces = !self.messages.is_listed();
        self.numbers.take(id, batch.isDelta(), replaces)?;
        let Some(values) = self.needs(id).cloned() else {
            return Ok(());
        };
        let data = batch.data().ok_or("a dictionary is missing")?;
        let schema = Arc::new(Schema::new(vec![ArrowField::new("", values, true)]));
        let version = self.messages.version;
        let fields = schema.fields();
        let needs = ipc_buffer_checks::check(&source, at, data, version, fields, |_| Use::Read)
            .map_err(|what| format!("a dictionary: {what}"))?;
        let len = u64::try_from(data.length()).map_err(|_| "a negative number of values")?;
        let bytes = needs.memory.saturating_add(BYTES_OF_PIECE);
        if !batch.isDelta() {
            let new = Dictionary {
                known: Known { words: Arc::new(DictionaryValues::new(source, version, schema)), pieces: 0, len: 0 },
                checked: 0,
                place: at.place,
                bytes: 0,
                charges: Vec::new(),
            };
            let old = self.dictionaries.insert(id, new);
            self.replaced.extend(old.filter(|old| !old.charges.is_empty()));
        }
        let dictionary = self.dictionaries.get_mut(&id).ok_or("an addition to a dictionary comes before it")?;
        if dictionary.charges.is_empty() {
            dictionary.place = at.place;
        }
        let Known { words, pieces, len: known } = &mut dictionary.known;
        let charge = Charge::of(bytes);
        words.add((*pieces, *known), at, len, Arc::clone(&charge))?;
        *pieces += 1;
        *known = known.checked_add(len).ok_or("a dictionary is too long")?;
        dictionary.bytes = dictionary.bytes.saturating_add(bytes);
        dictionary.charges.push(charge);
        Ok(())
    }

    /// Number of bytes of the dictionaries that are held.
    fn held(&self) -> u64 {
        let all = self.dictionaries.values().chain(&self.replaced);
        all.fold(0, |sum, it| sum.saturating_add(it.bytes))
    }

    /// A part that checks the dictionaries that have been read since the last such part.
    fn checks(&mut self) -> Option<RowPart> {
        let needed = self.held();
        let mut replaced = std::mem::take(&mut self.replaced);
        let mut checks = Vec::new();
        let (mut charges, mut place) = (Vec::new(), u64::MAX);
        let mut take = |dictionary: &mut Dictionary| {
            if dictionary.checked < dictionary.known.pieces {
                checks.push((dictionary.known.clone(), dictionary.checked));
                dictionary.checked = dictionary.known.pieces;
                charges.append(&mut dictionary.charges);
                place = place.min(dictionary.place);
            }
        };
        replaced.iter_mut().for_each(&mut take);
        self.dictionaries.values_mut().for_each(&mut take);
        if checks.is_empty() {
            return None;
        }
        let first = self.first_row;
        if needed > self.most {
            // Batches after them cannot be read.
            self.is_over = true;
            let what = format!("dictionaries: {}", refusal(needed, 0, 0, self.most));
            return Some(RowPart::damaged(Damage::limit(place, what), first..first, 0));
        }
        Some(RowPart {
            rows: first..first,
            place,
            bytes: 0,
            content: Bytes::from(Vec::new()),
            charges,
            decode: Arc::new(Checks(checks)),
            of_other_shard: false,
        })
    }

    /// The memory that the columns of a batch need.
    fn check(&self, at: Located) -> Result<Needs, String> {
        let source = &self.messages.source;
        let head = source.bytes(at.place..at.place + at.head).map_err(|error| error.to_string())?;
        let message = message(&head)?;
        let batch = message.header_as_record_batch().ok_or("a record batch is missing")?;
        let fields = self.messages.schema.fields();
        ipc_buffer_checks::check(source, at, batch, self.messages.version, fields, |number| {
            let mut reads = self.reads.iter().enumerate().filter(|(_, read)| read.root == number);
            // The first one holds the positions or moves.
            let is_first = reads.clone().any(|(at, _)| at == 0);
            match self.projection.binary_search(&number) {
                Ok(_) if !is_first && reads.any(|(_, read)| self.plan.reads_bytes(read.column)) => Use::Keep,
                // Operations.
                Ok(_) if is_first && self.keeps_operations => Use::KeepSome,
                Ok(_) => Use::Read,
                Err(_) => Use::Skip,
            }
        })
    }

    fn name_of(&self, read: &ReadField) -> &str {
        self.schema.field(read.root).name()
    }

    /// The batch, or the damage with the number of rows that are lost.
    fn batch(&mut self, at: Located, rows: u64) -> Result<Current, (Damage, u64)> {
        let number = self.number - 1;
        let wrong = |what: String| damage(at.place, format!("record batch {number}: {what}"));
        // Until the batch is checked, its claims are not believed.
        let needs = self.check(at).map_err(|what| (wrong(what), 0))?;
        let mut words = Vec::with_capacity(self.reads.len());
        for read in &*self.reads {
            words.push(match &read.dictionary {
                None => None,
                Some((id, _)) => match self.dictionaries.get(id) {
                    Some(dictionary) => Some(dictionary.known.clone()),
                    None => {
                        let what = format!("the dictionary of `{}` is missing", self.name_of(read));
                        return Err((wrong(what), rows));
                    }
                },
            });
        }
        let batch = Batch {
            source: Arc::clone(&self.messages.source),
            schema: Arc::clone(&self.schema),
            version: self.messages.version,
            plan: Arc::clone(&self.plan),
            reads: Arc::clone(&self.reads),
            projection: Arc::clone(&self.projection),
            words,
            at,
            first: self.first_row,
            rows,
            number,
            charge: Charge::of(needs.memory),
            // Each text exists twice while texts are collected.
            texts: 2 * needs.texts.min(self.texts),
            decoded: OnceLock::new(),
        };
        let part = batch.memory_of(batch.rows_of_part().min(rows));
        // Mapped data needs no memory, but the limit should not depend on how a file is read.
        let mapped = if batch.source.is_whole() {
            (at.head + at.body).saturating_add(batch.content_of(batch.rows_of_part().min(rows)))
        } else {
            0
        };
        let needed = [self.held(), needs.memory, part, mapped].into_iter().fold(0, u64::saturating_add);
        let text_shares = if needs.texts < self.texts { 0 } else { 2 };
        if needed <= self.most {
            Ok(Current { batch: Arc::new(batch), row: 0 })
        } else {
            Err((
                Damage { is_limit: true, ..wrong(refusal(needed, text_shares, needs.longest_texts, self.most)) },
                rows,
            ))
        }
    }
}

impl TableReader for ArrowTable {
    fn next(&mut self) -> Option<RowPart> {
        loop {
            if let Some(current) = &mut self.current {
                if let Some(part) = current.next() {
                    return Some(if self.is_of_other { part.of_other_shard() } else { part });
                }
                self.current = None;
            }
            if self.is_over {
                return None;
            }
            let message = match self.ahead.take() {
                Some(message) => message,
                None => self.messages.next(),
            };
            let is_dictionary = |at: &Located| matches!(at.kind, Kept::Dictionary);
            if !matches!(&message, Some(Ok(at)) if is_dictionary(at))
                && let Some(part) = self.checks()
            {
                self.ahead = Some(message);
                return Some(part);
            }
            let first = self.first_row;
            let at = match message? {
                Ok(at) => at,
                Err(damage) => return Some(RowPart::damaged(damage, first..first, 0)),
            };
            let rows = match at.kind {
                Kept::Batch { rows, .. } => rows,
                Kept::Other => {
                    let damage = damage(at.place, "a message is neither a batch nor a dictionary");
                    return Some(RowPart::damaged(damage, first..first, 0));
                }
                Kept::Dictionary => {
                    if let Err(what) = self.dictionary(at) {
                        // Batches after it cannot be relied on.
                        self.is_over = true;
                        let damage = damage(at.place, what);
                        return Some(RowPart::damaged(damage, first..first, 0));
                    }
                    continue;
                }
            };
            self.numbers.batch();
            self.number += 1;
            let is_own = self.shard.as_ref().is_none_or(|shard| shard.range.contains(&at.place));
            self.is_of_other = !is_own;
            if let Some(shard) = self.shard.as_ref().filter(|_| !is_own) {
                let reads_on = shard.reads_on();
                if !reads_on || !self.has_begun {
                    if reads_on && rows != 0 {
                        self.before_own = self.batch(at, rows).ok();
                    }
                    self.first_row += rows;
                    continue;
                }
            }
            self.has_begun |= is_own;
            match self.batch(at, rows) {
                Ok(current) => {
                    self.first_row += rows;
                    self.current = Some(current);
                }
                Err((damage, rows)) => {
                    self.first_row += rows;
                    let (rows, bytes) = (first..first + rows, at.head + at.body);
                    let damaged = RowPart::damaged(damage, rows, bytes);
                    return Some(if is_own { damaged } else { damaged.of_other_shard() });
                }
            }
            if let Some(part) = self.before_own.take().and_then(Current::last) {
                return Some(part.of_other_shard());
            }
        }
    }

    fn note(&self) -> Option<String> {
        self.plan.note()
    }
    fn kind(&self) -> RowKind {
        self.plan.kind()
    }
    fn fields(&self) -> Fields {
        self.plan.fields()
    }
    fn dropped_values(&self) -> &[(Field, String)] {
        self.plan.dropped_values()
    }

    fn check(&self) -> io::Result<()> {
        self.messages.source.check()
    }
}

impl Current {
    /// The last part.
    fn last(mut self) -> Option<RowPart> {
        self.row = self.batch.rows.saturating_sub(self.batch.rows_of_part());
        self.next()
    }
    fn next(&mut self) -> Option<RowPart> {
        let batch = &self.batch;
        if self.row == batch.rows {
            return None;
        }
        let rows = self.row..batch.rows.min(self.row + batch.rows_of_part());
        self.row = rows.end;
        let all = batch.at.head + batch.at.body;
        let share = |row: u64| (u128::from(all) * u128::from(row) / u128::from(batch.rows)) as u64;
        let bytes = share(rows.start)..share(rows.end);
        let place = batch.at.place;
        let content = batch.source.bytes(place + bytes.start..place + bytes.end);
        let own = Charge::of(batch.memory_of(rows.end - rows.start));
        Some(RowPart {
            rows: batch.first + rows.start..batch.first + rows.end,
            place,
            bytes: bytes.end - bytes.start,
            // The bytes were there a moment ago.
            content: content.unwrap_or_else(|_| Vec::new().into()),
            charges: vec![Arc::clone(&batch.charge), own],
            decode: Arc::clone(batch) as Arc<dyn DecodeRows>,
            of_other_shard: false,
        })
    }
}

impl Batch {
    /// Number of rows of a part.
    fn rows_of_part(&self) -> u64 {
        let of_bytes = |bytes: u64| u128::from(self.rows) * u128::from(bytes) / u128::from(self.at.body.max(1));
        // Games are so long that few rows suffice for a part.
        self.plan.bytes_of_part().map_or(ROWS, |bytes| of_bytes(bytes).clamp(1, ROWS.into()) as u64)
    }

    /// Number of bytes of memory that a part with this many rows needs for itself.
    fn memory_of(&self, rows: u64) -> u64 {
        let content = if self.source.is_whole() { 0 } else { self.content_of(rows) };
        let fields = self.reads.len() as u64;
        rows * (BYTES_OF_ROW + BYTES_OF_FIELD * fields) + self.texts + content
    }

    /// Number of bytes of the message that count for this many rows.
    fn content_of(&self, rows: u64) -> u64 {
        (u128::from(self.at.body) * u128::from(rows) / u128::from(self.rows.max(1))) as u64
    }

    /// Decodes the batch; the error is `None` if it was reported with a dictionary.
    fn decoded(&self) -> Result<&RecordBatch, Option<&str>> {
        let decoded = self.decoded.get_or_init(|| {
            for known in self.words.iter().flatten() {
                known.words.decode(known.pieces).map_err(|_| None)?;
            }
            let decoded = self.decode_columns();
            decoded.map_err(|what| Some(format!("record batch {}: {what}", self.number)))
        });
        decoded.as_ref().map_err(Option::as_deref)
    }

    fn decode_columns(&self) -> Result<RecordBatch, String> {
        let (head, body) = content(&self.source, self.at)?;
        let message = message(&head)?;
        let batch = message.header_as_record_batch().ok_or("a record batch is missing")?;
        let batch = guarded(|| {
            let (schema, none) = (Arc::clone(&self.schema), HashMap::new());
            RecordBatchDecoder::try_new(&body, batch, schema, &none, &self.version)?
                .with_projection(Some(&self.projection))
                .read_record_batch()
        })?;
        if batch.num_rows() as u64 != self.rows {
            return Err(format!("{} rows of {}", batch.num_rows(), self.rows));
        }
        for (read, known) in self.reads.iter().zip(&self.words) {
            let Some(known) = known else { continue };
            let array = values_of(self.column(&batch, read)?, &read.path)?;
            let array = dictionary_values::Column::from(array);
            let lists = Lists::of(&array);
            let numbers = lists.as_ref().map_or(&array.array, |lists| lists.values);
            let numbers = Numbers::of_primitive(numbers).ok_or("numbers of values are missing")?;
            let mut numbers = (0..numbers.len()).filter_map(|row| numbers.get(row));
            if let Some(number) = numbers.find(|number| !(0..i128::from(known.len)).contains(number)) {
                let name = self.schema.field(read.root).name();
                return Err(format!("column `{name}`: value {number} of a dictionary of {}", known.len));
            }
        }
        Ok(batch)
    }

    /// The column of a batch in which something is read.
    fn column<'a>(&self, batch: &'a RecordBatch, read: &ReadField) -> Result<&'a ArrayRef, String> {
        let at = self.projection.binary_search(&read.root).ok();
        at.and_then(|at| batch.columns().get(at)).ok_or_else(|| "a column is missing".to_owned())
    }
}

impl DecodeRows for Batch {
    fn decode(&self, rows: Range<u64>, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        match self.decoded() {
            Ok(_) => self.plan.decode(self, rows, self.first, chunk, options),
            Err(what) => {
                // The first part of the batch reports the error.
                let what = what.filter(|_| rows.start == self.first);
                Decoded {
                    damage: what.map(|what| damage(0, what)).into_iter().collect(),
                    records: rows.end - rows.start,
                    ..Decoded::default()
                }
            }
        }
    }
    fn check(&self) -> io::Result<()> {
        self.source.check()
    }
}

impl ReadColumns for Batch {
    fn is_in_memory(&self) -> bool {
        true
    }
    fn read(
        &self,
        column: usize,
        rows: Range<u64>,
        each: &mut dyn FnMut(&dictionary_values::Column) -> Result<(), String>,
    ) -> Result<(), String> {
        let batch = self.decoded().map_err(Option::unwrap_or_default)?;
        let at = self.reads.iter().position(|read| read.column == column).ok_or("a column is missing")?;
        let array = self.column(batch, &self.reads[at])?;
        let rows = rows.start as usize..rows.end as usize;
        if rows.end > array.len() {
            return Err(format!("{} rows of {}", array.len(), rows.end));
        }
        // Of a struct, only these rows are looked at.
        let array = values_of(&array.slice(rows.start, rows.len()), &self.reads[at].path)?;
        each(&dictionary_values::Column { array, words: self.words[at].clone() })
    }
}
