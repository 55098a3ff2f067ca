import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// A NIOWebSocket server that echoes each message in two fragments, with a ping between them.
final class NIOSocketServer: Sendable {
    private let channel: any Channel

    init() async throws {
        let upgrader = NIOWebSocketServerUpgrader(
            maxFrameSize: 1 << 20,
            shouldUpgrade: { channel, head in
                let isWanted = head.uri == "/echo" && head.headers.first(name: "Authorization") == "Bearer token"
                return channel.eventLoop.makeSucceededFuture(isWanted ? [:] : nil)
            },
            upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOWebSocketFrameAggregator(
                            minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 1_000,
                            maxAccumulatedFrameSize: 1 << 22),
                        Echo())
                }
            })
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.pipeline.configureHTTPServerPipeline(
                    withServerUpgrade: (
                        upgraders: [upgrader],
                        completionHandler: { $0.pipeline.removeHandler(name: "refusal", promise: nil) }
                    )
                ).flatMapThrowing { try channel.pipeline.syncOperations.addHandler(Refusal(), name: "refusal") }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var url: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

    func stop() async throws { try await channel.close() }
}

private final class Echo: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text, .binary:
            var rest = frame.unmaskedData
            let first = rest.readSlice(length: rest.readableBytes / 2) ?? ByteBuffer()
            send(WebSocketFrame(fin: false, opcode: frame.opcode, data: first), context)
            send(WebSocketFrame(fin: true, opcode: .ping, data: ByteBuffer(string: "between")), context)
            send(WebSocketFrame(fin: true, opcode: .continuation, data: rest), context)
        case .ping: send(WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData), context)
        case .connectionClose:
            let close = WebSocketFrame(fin: true, opcode: .connectionClose, data: frame.unmaskedData)
            context.writeAndFlush(wrapOutboundOut(close)).whenComplete { [channel = context.channel] _ in
                channel.close(promise: nil)
            }
        default: break
        }
    }

    private func send(_ frame: WebSocketFrame, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }
}

/// Responds to requests that aren't upgraded.
private final class Refusal: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        let head = HTTPResponseHead(version: .http1_1, status: .forbidden, headers: ["Content-Length": "0"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
