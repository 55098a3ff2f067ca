import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

extension AlteredTransport {
    /// Each has a mistake that a developer could make.
    static let wrong: [AlteredTransport] = messages + conduct

    private static let messages: [AlteredTransport] = [
        .response("joins fields of one name, cookies too") { response in
            var joined = HTTPHeaders()
            for field in response.headers {
                if let value = joined[field.name] {
                    joined.set(field.name, value + ", " + field.value)
                } else {
                    joined.add(field.name, field.value)
                }
            }
            response.headers = joined
        },
        .response("keeps the last of the fields with one name") { response in
            var last = HTTPHeaders()
            for field in response.headers { last.set(field.name, field.value) }
            response.headers = last
        },
        .response("sorts the fields of a response by value") { response in
            response.headers = HTTPHeaders(response.headers.sorted { $0.value < $1.value })
        },
        .response("leaves out fields without a value") { $0.headers.removeAll { $0.value.isEmpty } },
        .response("lowercases values of fields") { response in
            response.headers = HTTPHeaders(
                response.headers.map { HTTPHeaders.Field($0.name, $0.value.lowercased()) })
        },
        .response("replaces what is not ASCII in values") { response in
            response.headers = HTTPHeaders(
                response.headers.map { field in
                    HTTPHeaders.Field(field.name, String(field.value.map { $0.isASCII ? $0 : "?" }))
                })
        },
        .response("collapses spaces in values") { response in
            response.headers = HTTPHeaders(
                response.headers.map { field in
                    HTTPHeaders.Field(field.name, field.value.split(separator: " ").joined(separator: " "))
                })
        },
        .response("removes Content-Length") { $0.headers.remove(.contentLength) },
        .response("loses the rest of a body that fills no block") { response in
            guard response.body.data == nil else {
                let data = response.data
                response.body = HTTPBody(data.count > 512 ? data.prefix(data.count / 512 * 512) : data)
                return
            }
            response.body = response.body.mapped(length: nil) { iterator in
                while let chunk = try await iterator.next() {
                    if chunk.count <= 512 { return chunk }
                    return Data(chunk.prefix(chunk.count / 512 * 512))
                }
                return nil
            }
        },
        .response("takes the end of a broken body for its end") { response in
            response.body = response.body.mapped(length: nil) { iterator in try? await iterator.next() }
        },
        .response("throws for a status of 500 or more") { response in
            if response.status >= 500 { throw ErrandError(.invalidResponse, "the server failed") }
        },
        .request("uppercases the method") { $0.method = HTTPMethod(rawValue: $0.method.rawValue.uppercased()) },
        .request("collapses slashes of the path") { request in
            let parts = request.urlText.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            guard let range = parts[0].firstRange(of: "://") else { return }
            var path = String(parts[0][range.upperBound...])
            while path.contains("//") { path = path.replacing("//", with: "/") }
            let text = parts[0][..<range.upperBound] + path + (parts.count > 1 ? "?" + parts[1] : "")
            if let url = URL(string: String(text)) { request.url = url }
        },
        .request("decodes %2F in the path") { request in
            let text = request.urlText.replacing("%2F", with: "/")
            if let url = URL(string: text) { request.url = url }
        },
        .request("drops the = of an item without a value") { request in
            let text = request.urlText.replacing("=&", with: "&")
            if let url = URL(string: text.hasSuffix("=") ? String(text.dropLast()) : text) { request.url = url }
        },
        .request("sends a stream in chunks although its length is known") { request in
            let body = request.body
            guard body.data == nil, !body.isNone else { return }
            request.body = .stream(contentType: nil) {
                try body.open().mapped(length: nil) { try await $0.next() }
            }
        },
        .request("ends a request body whose source fails") { request in
            let body = request.body
            guard body.data == nil, !body.isNone else { return }
            request.body = .stream(length: body.length, contentType: nil) {
                try body.open().mapped(length: body.length) { iterator in try? await iterator.next() }
            }
        },
        .request("adds its own User-Agent to the fields") { $0.headers.set(.userAgent, "Wrong/1") },
        .request("joins the fields of a request, last value first") { request in
            var joined = HTTPHeaders()
            for field in request.headers.reversed() {
                let value = joined[field.name].map { "\($0), \(field.value)" } ?? field.value
                joined.set(field.name, value)
            }
            request.headers = joined
        },
    ]

    private static let conduct: [AlteredTransport] = [
        AlteredTransport("creates its own options, which report no event") { request, options, base in
            let own = TransportOptions(
                timeout: options.timeout, delivery: options.delivery, maximumBodyBytes: options.maximumBodyBytes,
                priority: options.priority, tags: options.tags, time: options.time)
            return try await base.send(request, options: own)
        },
        AlteredTransport("sends a request again whose connection was lost") { request, options, base in
            do { return try await base.send(request, options: options) } catch let error as ErrandError
                where error.code == .connectionLost
            {
                return try await base.send(request, options: options)
            }
        },
        AlteredTransport("sends a request again after a challenge") { request, options, base in
            let response = try await base.send(request, options: options)
            guard response.status == 401, response.headers.contains(.wwwAuthenticate) else { return response }
            response.body.cancel()
            return try await base.send(request, options: options)
        },
        AlteredTransport("sends HEAD as GET") { request, options, base in
            var copy = request
            if request.method == .head { copy.method = .get }
            var response = try await base.send(copy, options: options)
            if request.method == .head { response.body = .empty }
            return response
        },
        AlteredTransport("follows a redirect") { request, options, base in
            let response = try await base.send(request, options: options)
            guard request.method == .get, [301, 302, 307].contains(response.status),
                let location = response.headers[.location], let url = URL(string: location, relativeTo: request.url)
            else { return response }
            response.body.cancel()
            var next = request
            next.url = url.absoluteURL
            return try await base.send(next, options: options)
        },
        AlteredTransport("reads the whole body before it returns the head") { request, options, base in
            var response = try await base.send(request, options: options)
            response.body = HTTPBody(try await response.body.collect(upTo: options.maximumBodyBytes))
            return response
        },
        AlteredTransport("does not pass on a cancellation") { request, options, base in
            try await Task { try await base.send(request, options: options) }.value
        },
        AlteredTransport("reports progress of its own, twice the bytes") { request, options, base in
            var response = try await base.send(request, options: options)
            let received = Mutex<Int64>(0)
            response.body = response.body.mapped(length: response.body.length) { iterator in
                guard let chunk = try await iterator.next() else { return nil }
                let count = received.withLock { count in
                    count += 2 * Int64(chunk.count)
                    return count
                }
                options.report(.progress(TransferProgress(received: count)))
                return chunk
            }
            return response
        },
        AlteredTransport(
            "keeps responses by URL",
            stateful: {
                let kept = Mutex<[String: HTTPResponse]>([:])
                return { request, options, base in
                    guard request.method == .get else { return try await base.send(request, options: options) }
                    if let response = kept.withLock({ $0[request.urlText] }) { return response }
                    let response = try await base.send(request, options: options)
                    if response.body.data != nil { kept.withLock { $0[request.urlText] = response } }
                    return response
                }
            }),
        AlteredTransport(
            "keeps cookies",
            stateful: {
                let cookies = Mutex<[String]>([])
                return { request, options, base in
                    var request = request
                    let known = cookies.withLock { $0 }
                    if !known.isEmpty, !request.headers.contains(.cookie) {
                        request.headers.add(.cookie, known.joined(separator: "; "))
                    }
                    let response = try await base.send(request, options: options)
                    for value in response.headers.values(of: .setCookie) {
                        cookies.withLock { $0.append(String(value.prefix { $0 != ";" })) }
                    }
                    return response
                }
            }),
        AlteredTransport(
            "keeps the credentials of the last request",
            stateful: {
                let last = Mutex<String?>(nil)
                return { request, options, base in
                    var request = request
                    if let own = request.headers[.authorization] {
                        last.withLock { $0 = own }
                    } else if let known = last.withLock({ $0 }) {
                        request.headers.set(.authorization, known)
                    }
                    return try await base.send(request, options: options)
                }
            }),
        AlteredTransport(
            "keeps the bodies that it sent",
            stateful: {
                let sent = Mutex<[HTTPRequest]>([])
                return { request, options, base in
                    sent.withLock { $0.append(request) }
                    return try await base.send(request, options: options)
                }
            }),
        AlteredTransport("throws errors of its own type") { request, options, base in
            struct Failure: Error {}
            do { return try await base.send(request, options: options) } catch let error as ErrandError
                where error.code != .cancelled
            { throw Failure() }
        },
        AlteredTransport("calls silence a lost connection") { request, options, base in
            do { return try await base.send(request, options: options) } catch let error as ErrandError
                where error.code == .timedOut
            { throw ErrandError(.connectionLost, "no bytes") }
        },
        AlteredTransport("pumps a stream that nobody reads") { request, options, base in
            var response = try await base.send(request, options: options)
            guard response.body.data == nil else { return response }
            let (chunks, feed) = AsyncThrowingStream<Data, any Error>.makeStream()
            let body = response.body
            Task {
                do {
                    for try await chunk in body { feed.yield(chunk) }
                    feed.finish()
                } catch { feed.finish(throwing: error) }
            }
            response.body = HTTPBody(
                length: response.body.length,
                next: {
                    var iterator = chunks.makeAsyncIterator()
                    return try await iterator.next()
                })
            return response
        },
        AlteredTransport(
            "sends one request at a time",
            stateful: {
                let turn = Turn()
                return { request, options, base in
                    await turn.take()
                    defer { turn.leave() }
                    var response = try await base.send(request, options: options)
                    if options.delivery == .data {
                        response.body = HTTPBody(try await response.body.collect(upTo: options.maximumBodyBytes))
                    }
                    return response
                }
            }),
    ]

    /// Each keeps a transport's promises.
    static let unusual: [AlteredTransport] = [
        .response("delivers byte by byte") { $0.body = $0.body.pieces(of: 1) },
        .response("delivers three bytes at a time") { $0.body = $0.body.pieces(of: 3) },
        AlteredTransport("collects a body that is wanted as data") { request, options, base in
            var response = try await base.send(request, options: options)
            if options.collectsBody(ofStatus: response.status) {
                response.body = HTTPBody(try await response.body.collect(upTo: options.maximumBodyBytes))
            }
            return response
        },
        AlteredTransport("sends a stream of unknown length with its length") { request, options, base in
            var request = request
            if request.body.data == nil, request.body.length == nil {
                request.body = .data(try await request.body.open().collect(upTo: 1 << 26), contentType: nil)
            }
            return try await base.send(request, options: options)
        },
        AlteredTransport("makes a connection for each request") { request, options, _ in
            try await Wire.strict[0].transport.send(request, options: options)
        },
        AlteredTransport("waits before it sends") { request, options, base in
            try await Task.sleep(for: .milliseconds(3))
            return try await base.send(request, options: options)
        },
        AlteredTransport("yields often") { request, options, base in
            for _ in 0..<40 { await Task.yield() }
            let response = try await base.send(request, options: options)
            for _ in 0..<40 { await Task.yield() }
            return response
        },
        .response("lowercases names of fields") { response in
            response.headers = HTTPHeaders(
                response.headers.map { field in
                    var copy = field
                    copy.name = HTTPHeaderName(field.name.rawName.lowercased())
                    return copy
                })
        },
        .response("joins fields of one name, but no cookies") { response in
            var joined = HTTPHeaders()
            for field in response.headers {
                if field.name != .setCookie, let value = joined[field.name] {
                    var copy = field
                    copy.value = value + ", " + field.value
                    joined.set(copy)
                } else {
                    joined.add(field.name, field.value)
                    if field.isLatin1 {
                        var copy = field
                        copy.isLatin1 = true
                        joined.set(copy)
                    }
                }
            }
            response.headers = joined
        },
    ]
}

extension HTTPBody {
    /// Returns a body with the same bytes in pieces of one size.
    fileprivate func pieces(of size: Int) -> HTTPBody {
        let rest = Mutex(Data())
        return mapped(length: length) { iterator in
            if let piece = rest.withLock({ $0.takePiece(of: size) }) { return piece }
            guard let chunk = try await iterator.next() else { return nil }
            return rest.withLock { rest in
                rest = Data(chunk)
                return rest.takePiece(of: size) ?? Data()
            }
        }
    }
}

extension Data {
    fileprivate mutating func takePiece(of size: Int) -> Data? {
        if isEmpty { return nil }
        // Long bodies would take minutes byte by byte.
        let piece = Data(prefix(Swift.max(size, count / 500)))
        removeFirst(piece.count)
        return piece
    }
}

/// Lets one caller in at a time.
private final class Turn: Sendable {
    private let state = Mutex<(isTaken: Bool, waiters: [CheckedContinuation<Void, Never>])>((false, []))

    func take() async {
        await withCheckedContinuation { waiter in
            let isFree = state.withLock { state in
                if state.isTaken { state.waiters.append(waiter) }
                defer { state.isTaken = true }
                return !state.isTaken
            }
            if isFree { waiter.resume() }
        }
    }

    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if !state.waiters.isEmpty { return state.waiters.removeFirst() }
            state.isTaken = false
            return nil
        }
        next?.resume()
    }
}
