import Errand
import ErrandEssentials
import ErrandRecording

extension JSONText {
    static func details(of activity: MaskedActivity) -> [UInt8] {
        var text = JSONText()
        text.object { text in
            text.summary(of: activity)
            text.exchanges(of: activity)
            text.rest(of: activity)
            text.add("explanation", activity.explanation)
        }
        return text.bytes
    }

    private mutating func exchanges(of activity: MaskedActivity) {
        add("droppedHops", activity.state.droppedHops)
        array("exchanges", of: activity.exchanges) { text, exchange in
            text.object { text in
                text.add("method", exchange.request.method.rawValue)
                text.add("url", exchange.request.url)
                text.add("attempt", exchange.attempt)
                text.add("hop", exchange.hop)
                text.add("offset", exchange.offset - activity.record.start)
                text.add("duration", exchange.duration > .zero ? exchange.duration : nil)
                text.add("version", exchange.version)
                text.timings(exchange)
                text.headers("requestHeaders", exchange.request.headers)
                text.body("requestBody", exchange.request.body)
                if let response = exchange.response { text.object("response") { $0.response(response) } }
                text.add("curl", CurlCommand.text(of: exchange.request))
            }
        }
        if let other = activity.other { object("other") { $0.response(other) } }
    }

    private mutating func response(_ response: RecordedExchange.Response) {
        add("status", response.status)
        add("location", response.redirectURL)
        headers("headers", response.headers)
        body("body", response.body)
    }

    private mutating func timings(_ exchange: RecordedExchange) {
        array("phases", of: exchange.bar.dropFirst()) { $0.add($1) }
        guard let timings = exchange.timings else { return }
        add("address", timings.remoteAddress)
        add("reused", timings.isReusedConnection)
        add("wireSent", timings.bytesSent)
        add("wireReceived", timings.bytesReceived)
    }

    private mutating func headers(_ name: StaticString, _ headers: HTTPHeaders) {
        array(name, of: headers) { text, field in
            text.array([field.name.rawName, field.value]) { $0.add($1) }
        }
    }

    private mutating func body(_ name: StaticString, _ body: RecordedBody) {
        object(name) { $0.content(of: body) }
    }

    private mutating func content(of body: RecordedBody) {
        add("length", body.length)
        add("copied", body.copiedBytes)
        add("type", body.contentType)
        add("omission", body.omission)
        add("truncated", body.isTruncated)
        if body.data.isEmpty { return }
        if let shown = body.text {
            add("text", shown)
        } else {
            add("base64", body.data.base64EncodedString())
        }
    }

    private mutating func rest(of activity: MaskedActivity) {
        let (record, state) = (activity.record, activity.state)
        add("droppedNotes", state.droppedNotes)
        array("noteList", of: activity.notes) { text, note in
            text.object { text in
                text.add("name", note.name)
                text.add("text", note.text)
                text.add("at", note.at - record.start)
            }
        }
        if let failure = activity.failure {
            object("failure") { text in
                text.add("name", failure.name)
                text.add("description", failure.description)
                text.add("sentence", failure.sentence)
            }
        }
        add("droppedMessages", state.droppedMessages)
        array("messageList", of: activity.messages.suffix(200)) { text, message in
            text.object { text in
                text.add("sent", message.direction == .sent)
                text.add("date", Int64((message.date.timeIntervalSince1970 * 1000).rounded()))
                text.content(of: message.body)
            }
        }
        add("test", StubTest.text(of: activity))
    }
}
