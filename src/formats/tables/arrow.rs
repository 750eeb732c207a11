//! Arrow files and streams (IPC).

use super::columns::{Column, Kind, Plan};
use super::decode::{ReadColumns, decode};
use super::dictionaries::Dictionaries;
use super::guard::guarded;
use super::messages::{CONTINUATION, Kept, Located, MAGIC, Messages, content, damage, message};
use super::{DecodeRows, Facts, OpenTable, Part, Table, TableError};
use crate::columnar::check_columns;
use crate::error::Damage;
use crate::formats::{About, Chunk, Codec, DecodeOptions, Decoded, Likeness};
use crate::input::Source;
use crate::table::Fields;
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_ipc::MetadataVersion;
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary};
use arrow_schema::{DataType, Field as ArrowField, Schema, SchemaRef};
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Arrow files and streams with a column of positions.
#[derive(Clone, Copy, Debug)]
pub struct Arrow;

/// Rows of a part.
const ROWS: u64 = 32 << 10;

impl Codec for Arrow {
    fn about(&self) -> &'static About {
        static ABOUT: About = About {
            name: "arrow",
            title: "Arrow file or stream with a column `fen` or `board`",
            extensions: &["arrow", "arrows", "feather", "ipc"],
            is_text: false,
            has_games: false,
            carries: Fields::ALL,
        };
        &ABOUT
    }
    fn likeness(&self, head: &[u8]) -> Likeness {
        Likeness::certain_if(head.starts_with(MAGIC) || is_stream(head))
    }
    fn cut(&self, _: &[u8], _: usize) -> Option<usize> {
        None
    }
    fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        super::decode(self, chunk, options)
    }
    fn resume(&self, _: &[u8], _: usize, _: bool) -> Option<usize> {
        None
    }
    fn before_broken_end(&self, _: &[u8], _: usize) -> usize {
        0
    }
    fn raw<'a>(&self, _: &'a [u8], _: usize) -> Option<(&'a [u8], u64)> {
        None
    }
    fn tables(&self) -> Option<&'static dyn OpenTable> {
        Some(&Self)
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
        source: Source,
        options: &DecodeOptions,
        shard: Option<Range<u64>>,
    ) -> Result<Box<dyn Table>, TableError> {
        let mut messages = Messages::open(source)?;
        let schema = &messages.schema;
        check_columns(&schema.fields, &schema.metadata).map_err(|what| damage(0, what))?;
        let numbers = Dictionaries::of(schema).map_err(|what| damage(0, what))?;
        let fields = messages.schema.fields().iter();
        let columns: Vec<Column> = fields.map(|field| column_of(field)).collect();
        let plan = Plan::of(&columns, options).map_err(TableError::Columns)?;
        let mut projection = plan.columns();
        projection.sort_unstable();
        // Text is read as bytes: what is not UTF-8 is a bad row, not a bad batch.
        let fields = messages.schema.fields().iter().enumerate();
        let fields = fields.map(|(at, field)| match projection.contains(&at) {
            true => as_bytes(field),
            false => field.as_ref().clone(),
        });
        messages.schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Ok(Box::new(ArrowTable {
            messages,
            plan: Arc::new(plan),
            projection: projection.into(),
            shard,
            numbers,
            dictionaries: Arc::default(),
            first_row: 0,
            number: 0,
            current: None,
            is_over: false,
        }))
    }

    fn facts(&self, source: Source) -> Result<Facts, Damage> {
        let mut messages = Messages::open(source)?;
        let fields = messages.schema.fields().iter();
        let columns = fields.map(|field| column_of(field));
        let columns = columns.map(|column| (column.name, column.data)).collect();
        let (mut rows, mut groups) = (0u64, 0);
        while let Some(message) = messages.next() {
            if let Kept::Batch(count) = message?.kind {
                rows = rows.saturating_add(count);
                groups += 1;
            }
        }
        Ok(Facts {
            rows,
            groups,
            columns,
        })
    }
}

fn column_of(field: &ArrowField) -> Column {
    Column {
        name: field.name().clone(),
        kind: Kind::of(field.data_type()),
        data: field.data_type().to_string(),
    }
}

/// The field with bytes in place of strings, which have the same layout.
fn as_bytes(field: &ArrowField) -> ArrowField {
    fn of(data: &DataType) -> DataType {
        match data {
            DataType::Utf8 => DataType::Binary,
            DataType::LargeUtf8 => DataType::LargeBinary,
            DataType::Utf8View => DataType::BinaryView,
            DataType::Dictionary(keys, values) => {
                DataType::Dictionary(keys.clone(), Box::new(of(values)))
            }
            other => other.clone(),
        }
    }
    field.clone().with_data_type(of(field.data_type()))
}

/// The values of dictionaries, by number.
type Values = HashMap<i64, ArrayRef>;

#[derive(Debug)]
struct ArrowTable {
    messages: Messages,
    plan: Arc<Plan>,
    /// Numbers of the columns that are read, in ascending order.
    projection: Arc<[usize]>,
    shard: Option<Range<u64>>,
    /// Which may come.
    numbers: Dictionaries,
    /// Those that hold for the next batch.
    dictionaries: Arc<Values>,
    first_row: u64,
    number: usize,
    current: Option<Current>,
    is_over: bool,
}

/// The batch that is divided.
#[derive(Debug)]
struct Current {
    batch: Arc<Batch>,
    /// The next row of it.
    row: u64,
}

/// A record batch of a file, decoded when it is first needed.
struct Batch {
    source: Arc<Source>,
    schema: SchemaRef,
    version: MetadataVersion,
    plan: Arc<Plan>,
    projection: Arc<[usize]>,
    dictionaries: Arc<Values>,
    at: Located,
    first: u64,
    rows: u64,
    number: usize,
    decoded: OnceLock<Result<RecordBatch, String>>,
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Batch").field(&self.at).finish()
    }
}

impl ArrowTable {
    /// Whether a dictionary is one of a column that is read.
    fn needs(&self, id: i64) -> bool {
        #[allow(
            deprecated,
            reason = "the numbers of dictionaries are part of the format, and found nowhere else"
        )]
        let fields = self.messages.schema.fields_with_dict_id(id);
        let read = self.projection.iter();
        let mut names = read.map(|&at| self.messages.schema.field(at).name());
        names.any(|name| fields.iter().any(|field| field.name() == name))
    }

    fn dictionary(&mut self, at: Located) -> Result<(), String> {
        let (head, body) = content(&self.messages.source, at)?;
        let message = message(&head)?;
        let batch = message.header_as_dictionary_batch();
        let batch = batch.ok_or("a dictionary is missing")?;
        let replaces = !self.messages.is_listed();
        self.numbers.take(batch.id(), batch.isDelta(), replaces)?;
        if !self.needs(batch.id()) {
            return Ok(());
        }
        let dictionaries = Arc::make_mut(&mut self.dictionaries);
        let (schema, version) = (&self.messages.schema, self.messages.version);
        guarded(|| read_dictionary(&body, batch, schema, dictionaries, &version))
            .map_err(|error| format!("a dictionary: {error}"))
    }
}

impl Table for ArrowTable {
    fn next(&mut self) -> Option<Part> {
        loop {
            if let Some(current) = &mut self.current {
                if let Some(part) = current.next() {
                    return Some(part);
                }
                self.current = None;
            }
            if self.is_over {
                return None;
            }
            let first = self.first_row;
            let at = match self.messages.next()? {
                Ok(at) => at,
                Err(damage) => return Some(Part::damaged(damage, first..first, 0)),
            };
            let rows = match at.kind {
                Kept::Batch(rows) => rows,
                Kept::Other => {
                    let damage = damage(at.place, "a message is neither a batch nor a dictionary");
                    return Some(Part::damaged(damage, first..first, 0));
                }
                Kept::Dictionary => {
                    if let Err(what) = self.dictionary(at) {
                        // No batch after it can be relied on.
                        self.is_over = true;
                        let damage = damage(at.place, what);
                        return Some(Part::damaged(damage, first..first, 0));
                    }
                    continue;
                }
            };
            self.numbers.batch();
            self.first_row += rows;
            self.number += 1;
            if let Some(shard) = &self.shard
                && !shard.contains(&at.place)
            {
                continue;
            }
            self.current = Some(Current {
                batch: Arc::new(Batch {
                    source: Arc::clone(&self.messages.source),
                    schema: Arc::clone(&self.messages.schema),
                    version: self.messages.version,
                    plan: Arc::clone(&self.plan),
                    projection: Arc::clone(&self.projection),
                    dictionaries: Arc::clone(&self.dictionaries),
                    at,
                    first,
                    rows,
                    number: self.number - 1,
                    decoded: OnceLock::new(),
                }),
                row: 0,
            });
        }
    }

    fn note(&self) -> Option<String> {
        self.plan.note()
    }
    fn fields(&self) -> Fields {
        self.plan.carried()
    }

    fn check(&self) -> io::Result<()> {
        self.messages.source.check()
    }
}

impl Current {
    fn next(&mut self) -> Option<Part> {
        let batch = &self.batch;
        if self.row == batch.rows {
            return None;
        }
        let rows = self.row..batch.rows.min(self.row + ROWS);
        self.row = rows.end;
        let all = batch.at.head + batch.at.body;
        let share = |row: u64| (u128::from(all) * u128::from(row) / u128::from(batch.rows)) as u64;
        let bytes = share(rows.start)..share(rows.end);
        let place = batch.at.place;
        let content = batch.source.bytes(place + bytes.start..place + bytes.end);
        Some(Part {
            rows: batch.first + rows.start..batch.first + rows.end,
            place,
            bytes: bytes.end - bytes.start,
            // They were there a moment ago.
            content: content.unwrap_or_else(|_| Vec::new().into()),
            decode: Arc::clone(batch) as Arc<dyn DecodeRows>,
        })
    }
}

impl Batch {
    fn decoded(&self) -> Result<&RecordBatch, String> {
        let decoded = self.decoded.get_or_init(|| {
            let (head, body) = content(&self.source, self.at)?;
            let message = message(&head)?;
            let batch = message.header_as_record_batch();
            let batch = batch.ok_or("a record batch is missing")?;
            let batch = guarded(|| {
                let schema = Arc::clone(&self.schema);
                RecordBatchDecoder::try_new(
                    &body,
                    batch,
                    schema,
                    &self.dictionaries,
                    &self.version,
                )?
                .with_projection(Some(&self.projection))
                .read_record_batch()
            })?;
            match batch.num_rows() as u64 == self.rows {
                true => Ok(batch),
                false => Err(format!("{} rows of {}", batch.num_rows(), self.rows)),
            }
        });
        let decoded = decoded.as_ref();
        decoded.map_err(|what| format!("record batch {}: {what}", self.number))
    }
}

impl DecodeRows for Batch {
    fn decode(&self, rows: Range<u64>, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        decode(&self.plan, self, rows, self.first, chunk, options)
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
        each: &mut dyn FnMut(&ArrayRef) -> Result<(), String>,
    ) -> Result<(), String> {
        let batch = self.decoded()?;
        let at = self.projection.iter().position(|&other| other == column);
        let array = at.and_then(|at| batch.columns().get(at));
        let array = array.ok_or("a column is missing")?;
        let rows = rows.start as usize..rows.end as usize;
        if rows.end > array.len() {
            return Err(format!("{} rows of {}", array.len(), rows.end));
        }
        each(&array.slice(rows.start, rows.len()))
    }
}
