//! The part of HTTP that requests to a scheduler need: one request, one response, and short timeouts.

use serde_json::Value;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Maximum time for a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// Maximum time for a response.
const ANSWER: Duration = Duration::from_secs(10);
/// Maximum size of a response.
const MOST_BYTES: u64 = 64 << 20;

/// Fetches the JSON at a path of a server.
pub(super) fn get(address: &str, path: &str) -> io::Result<Value> {
    let body = request(address, "GET", path)?;
    serde_json::from_slice(&body).map_err(io::Error::other)
}

/// Sends a request without content, and returns the content of the response.
pub(super) fn request(address: &str, method: &str, path: &str) -> io::Result<Vec<u8>> {
    let mut stream = connect(address)?;
    stream.set_read_timeout(Some(ANSWER))?;
    stream.set_write_timeout(Some(ANSWER))?;
    // With version 1.0, the response comes in one piece, and ends with the connection.
    let asked =
        format!("{method} {path} HTTP/1.0\r\nHost: {address}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(asked.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(MOST_BYTES).read_to_end(&mut answer)?;
    let odd = || io::Error::new(io::ErrorKind::InvalidData, "the response is not HTTP");
    let end = memchr::memmem::find(&answer, b"\r\n\r\n").ok_or_else(odd)?;
    let head = String::from_utf8_lossy(&answer[..end]);
    let status = head.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5));
    match status {
        Some(status) if status.starts_with('2') => Ok(answer.split_off(end + 4)),
        Some(status) => Err(io::Error::other(format!("the response has status {status}"))),
        None => Err(odd()),
    }
}

fn connect(address: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// What a request gets from a server that answers with these bytes.
    fn answered(answer: &'static [u8]) -> io::Result<Value> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = Vec::new();
            while !asked.ends_with(b"\r\n\r\n") {
                let mut more = [0; 1024];
                let len = stream.read(&mut more).unwrap();
                asked.extend_from_slice(&more[..len]);
            }
            stream.write_all(answer).unwrap();
        });
        let got = get(&address, "/api/x");
        server.join().unwrap();
        got
    }

    #[test]
    fn answers_are_read() {
        let value = answered(b"HTTP/1.0 200 OK\r\nContent-Type: x\r\n\r\n[1, 2]").unwrap();
        assert_eq!(value, serde_json::json!([1, 2]));
        for odd in [
            &b""[..],
            b"SSH-2.0-OpenSSH_9.9\r\n",
            b"HTTP/1.1 404 Not Found\r\n\r\n{}",
            b"HTTP/1.1 200 OK\r\n\r\n<html>",
        ] {
            assert!(answered(odd).is_err());
        }
        // Nobody listens there any more.
        assert!(get("127.0.0.1:1", "/").is_err());
    }
}
