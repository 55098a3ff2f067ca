import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOPosix
import NIOResumableUpload
import Synchronization

/// A server that uses NIOResumableUpload, keeps the bodies of finished uploads, and cuts some of its connections.
final class NIOUploadServer: Sendable {
    final class Record: Sendable {
        private let state: Mutex<(bodies: [Data], cuts: [Int])>

        init(_ cuts: [Int]) { state = Mutex(([], cuts)) }

        var bodies: [Data] { state.withLock { $0.bodies } }
        func add(_ body: Data) { state.withLock { $0.bodies.append(body) } }
        func takeCut() -> Int? { state.withLock { $0.cuts.isEmpty ? nil : $0.cuts.removeFirst() } }
    }

    private let channel: any Channel
    private let record: Record

    /// - Parameter cuts: The numbers of bytes after which connections with a body are cut, one per connection, in
    ///   order.
    init(cutting cuts: [Int] = []) async throws {
        let record = Record(cuts)
        let uploads = Uploads()
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(Cutter(record))
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
                    try pipeline.addHandler(
                        HTTPResumableUploadHandler(context: uploads.context) { channel in
                            try? channel.pipeline.syncOperations.addHandler(Receiver(record))
                        })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.record = record
        uploads.begin(at: "http://127.0.0.1:\(channel.localAddress?.port ?? 0)")
    }

    var url: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }
    var bodies: [Data] { record.bodies }

    func stop() async throws { try await channel.close() }
}

/// A server's uploads. Their URLs contain the port, which is known only once the server listens.
private final class Uploads: Sendable {
    private let state = Mutex(HTTPResumableUploadContext(origin: ""))

    var context: HTTPResumableUploadContext { state.withLock { $0 } }
    func begin(at origin: String) { state.withLock { $0 = HTTPResumableUploadContext(origin: origin) } }
}

/// Closes a connection after a number of bytes of a request with a body.
private final class Cutter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let record: NIOUploadServer.Record
    private var left: Int?
    private var isFirst = true

    init(_ record: NIOUploadServer.Record) { self.record = record }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        let head = String(decoding: bytes.readableBytesView.prefix(5), as: UTF8.self)
        if isFirst, head == "PATCH" || head == "POST " { left = record.takeCut() }
        isFirst = left == nil
        guard let left else { return context.fireChannelRead(data) }
        if bytes.readableBytes < left {
            self.left = left - bytes.readableBytes
            context.fireChannelRead(data)
        } else {
            if let piece = bytes.readSlice(length: left) { context.fireChannelRead(wrapInboundOut(piece)) }
            context.close(promise: nil)
        }
    }
}

private final class Receiver: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private let record: NIOUploadServer.Record
    private var method = HTTPRequest.Method.get
    private var body = Data()

    init(_ record: NIOUploadServer.Record) { self.record = record }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): method = head.method
        case .body(let bytes): body.append(contentsOf: bytes.readableBytesView)
        case .end:
            let isUpload = method == .post
            if isUpload { record.add(body) }
            let head = HTTPResponse(
                status: isUpload ? .created : .notImplemented, headerFields: [.contentLength: isUpload ? "4" : "0"])
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            if isUpload { context.write(wrapOutboundOut(.body(ByteBuffer(string: "done"))), promise: nil) }
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
