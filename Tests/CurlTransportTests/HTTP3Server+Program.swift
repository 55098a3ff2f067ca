#if os(Linux)
extension HTTP3Server {
    /// Serves HTTP/3 and forwards each request over HTTP/1.1 to the port in its `X-Port`. If a response breaks off, the
    /// program resets its stream; if a stream is reset, it closes the connection of the forwarded request. It answers
    /// paths below `/quic/` itself: see ``HTTP3Server/Fault``.
    static let program = #"""
        import asyncio, os, sys
        from socket import SOL_SOCKET, SO_RCVBUF
        from aioquic.asyncio import serve
        from aioquic.asyncio.protocol import QuicConnectionProtocol
        from aioquic.h3.connection import H3_ALPN, H3Connection, ErrorCode
        from aioquic.h3.events import DataReceived, HeadersReceived
        from aioquic.quic.configuration import QuicConfiguration
        from aioquic.quic.events import ConnectionTerminated, ProtocolNegotiated, StopSendingReceived, StreamReset

        # Fields of a connection (RFC 9114, section 4.2).
        PRIVATE = {b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade"}
        HIGH_WATER = 256 << 10
        # How often each path below /quic/ was asked for.
        SEEN = {}

        class Broken(Exception):
            pass

        class Peer(QuicConnectionProtocol):
            http = None

            def __init__(self, *args, **options):
                super().__init__(*args, **options)
                self.exchanges = {}

            def quic_event_received(self, event):
                if isinstance(event, ProtocolNegotiated):
                    self.http = H3Connection(self._quic)
                if isinstance(event, (StreamReset, StopSendingReceived)) and event.stream_id in self.exchanges:
                    self.exchanges.pop(event.stream_id).cancel()
                if isinstance(event, ConnectionTerminated):
                    for exchange in self.exchanges.values():
                        exchange.cancel()
                    self.exchanges.clear()
                for each in self.http.handle_event(event) if self.http else ():
                    self.receive(each)

            def receive(self, event):
                number = event.stream_id
                if isinstance(event, HeadersReceived) and number not in self.exchanges:
                    if not event.stream_ended or event.headers:
                        self.exchanges[number] = Exchange(self, number, event.headers)
                if number in self.exchanges:
                    exchange = self.exchanges[number]
                    if isinstance(event, DataReceived) and event.data:
                        exchange.body.put_nowait(event.data)
                    if event.stream_ended:
                        exchange.body.put_nowait(None)

        class Exchange:
            def __init__(self, peer, number, headers):
                self.peer, self.number, self.headers = peer, number, headers
                self.body = asyncio.Queue()
                self.task = asyncio.ensure_future(self.run())

            def cancel(self):
                self.task.cancel()

            async def run(self):
                writer = sending = None
                try:
                    fields = dict(self.headers)
                    if fields[b":path"].startswith(b"/quic/"):
                        return await self.misbehave(fields[b":method"], fields[b":path"])
                    reader, writer = await asyncio.open_connection("127.0.0.1", int(fields[b"x-port"]))
                    sending = asyncio.ensure_future(self.send(writer, fields))
                    await self.respond(reader, fields[b":method"])
                except (Broken, OSError, EOFError, ValueError, asyncio.LimitOverrunError):
                    self.reset()
                finally:
                    if sending:
                        sending.cancel()
                    if writer:
                        writer.close()
                    self.peer.exchanges.pop(self.number, None)

            def reset(self, code=ErrorCode.H3_INTERNAL_ERROR):
                self.peer._quic.reset_stream(self.number, code)
                self.peer.transmit()

            async def misbehave(self, method, path):
                while await self.body.get() is not None:
                    pass
                with open("requests", "ab") as file:
                    file.write(b"%s %s\n" % (method, path))
                seen = SEEN[path] = SEEN.get(path, 0) + 1
                kind, peer = path.split(b"/")[2], self.peer
                if kind == b"rejected" or kind == b"rejected-once" and seen == 1:
                    self.reset(ErrorCode.H3_REQUEST_REJECTED)
                elif kind == b"failed":
                    self.reset()
                elif kind == b"closed":
                    peer._quic.close(error_code=ErrorCode.H3_NO_ERROR)
                    peer.transmit()
                elif kind == b"misdirected":
                    self.headers_out(b"421", [(b"content-length", b"0")], True)
                elif kind == b"cut":
                    self.headers_out(b"200", [(b"content-length", b"10")])
                    await self.data(b"quic")
                    await asyncio.sleep(0.1)
                    self.reset()
                else:
                    length = {b"short": b"10", b"long": b"2"}.get(kind, b"4")
                    self.headers_out(b"200", [(b"content-length", length)])
                    peer.http.send_data(self.number, b"quic", True)
                    peer.transmit()

            async def send(self, writer, fields):
                try:
                    lines = [fields[b":method"] + b" " + fields[b":path"] + b" HTTP/1.1"]
                    lines += [b"Host: 127.0.0.1:" + fields[b"x-port"]]
                    lines += [b": ".join(each) for each in self.headers if each[0][:1] != b":" and each[0] != b"x-port"]
                    first = await self.body.get()
                    is_chunked = first is not None and b"content-length" not in fields
                    if is_chunked:
                        lines.append(b"Transfer-Encoding: chunked")
                    writer.write(b"\r\n".join(lines) + b"\r\n\r\n")
                    piece = first
                    while piece is not None:
                        writer.write(b"%x\r\n%s\r\n" % (len(piece), piece) if is_chunked else piece)
                        await writer.drain()
                        piece = await self.body.get()
                    if is_chunked:
                        writer.write(b"0\r\n\r\n")
                    await writer.drain()
                except OSError:
                    pass

            async def head(self, reader):
                line = await reader.readuntil(b"\r\n")
                if not line.startswith(b"HTTP/1."):
                    raise Broken()
                status, headers = line.split()[1], await self.fields(reader)
                if not status.isdigit():
                    raise Broken()
                return status, headers

            async def fields(self, reader):
                headers = []
                while (line := (await reader.readuntil(b"\r\n"))[:-2]):
                    name, colon, value = line.partition(b":")
                    if not colon:
                        raise Broken()
                    headers.append((name.lower(), value.strip(b" \t")))
                return headers

            def headers_out(self, status, headers, end=False):
                kept = [each for each in headers if each[0] not in PRIVATE]
                self.peer.http.send_headers(self.number, [(b":status", status)] * bool(status) + kept, end)
                self.peer.transmit()

            async def data(self, data):
                self.peer.http.send_data(self.number, data, False)
                self.peer.transmit()
                # A reader that is slow holds the server back.
                while len(self.peer._quic._streams[self.number].sender._buffer) > HIGH_WATER:
                    await asyncio.sleep(0.002)

            async def copy(self, reader, count):
                while count:
                    piece = await reader.read(min(count, 65536))
                    if not piece:
                        raise Broken()
                    count -= len(piece)
                    await self.data(piece)

            async def respond(self, reader, method):
                status, headers = await self.head(reader)
                while status.startswith(b"1"):
                    self.headers_out(status, headers)
                    status, headers = await self.head(reader)
                known = dict(headers)
                self.headers_out(status, headers)
                trailers = []
                if method == b"HEAD" or status in (b"204", b"304"):
                    pass
                elif b"transfer-encoding" in known:
                    while (size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)):
                        await self.copy(reader, size)
                        if await reader.readexactly(2) != b"\r\n":
                            raise Broken()
                    trailers = await self.fields(reader)
                elif b"content-length" in known:
                    await self.copy(reader, int(known[b"content-length"]))
                else:
                    while (piece := await reader.read(65536)):
                        await self.data(piece)
                if trailers:
                    self.headers_out(b"", trailers, True)
                else:
                    self.peer.http.send_data(self.number, b"", True)
                    self.peer.transmit()

        async def main():
            # A client whose packets are lost for a moment stays; a stream that libcurl left without a word ends with its
            # connection.
            settings = QuicConfiguration(alpn_protocols=H3_ALPN, is_client=False, idle_timeout=20)
            settings.load_cert_chain("named.pem", "named.key")
            server = await serve("127.0.0.1", int(sys.argv[1]), configuration=settings, create_protocol=Peer)
            socket = server._transport.get_extra_info("socket")
            # All connections share it: a burst on one must not lose the packets of the others.
            socket.setsockopt(SOL_SOCKET, SO_RCVBUF, 4 << 20)
            with open("port.new", "w") as file:
                file.write("%d %d" % (socket.getsockname()[1], os.getpid()))
            os.rename("port.new", "port")
            await asyncio.get_running_loop().create_future()

        asyncio.run(main())
        """#
}
#endif
