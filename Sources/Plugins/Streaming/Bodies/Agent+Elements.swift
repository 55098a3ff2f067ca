public import Errand
import ErrandEssentials

extension Agent {
    /// The lines of a response, as they arrive, in the charset of its `Content-Type`; see
    /// ``Errand/HTTPBody/lines(upTo:)``. In a charset other than UTF-8 a line that is not valid throws
    /// ``StreamingError/Code/decodingFailed``, and UTF-16 cannot be read.
    ///
    /// ```swift
    /// for try await line in agent.lines(Call(.get, "jobs/7/log")) { print(line) }
    /// ```
    ///
    /// The request is sent when reading begins. Meanwhile there is an activity of the kind
    /// ``Errand/ActivityKind/stream``, which `cancelAll` reaches.
    public func lines<R: Request>(
        _ request: R, upTo limit: Int = ElementLimit.standard, options: CallOptions = CallOptions()
    ) -> ElementStream<String> where R.Output == HTTPBody {
        ElementStream(.request { StreamSession(request, on: self, options, unit: "lines") }) { response in
            LineReader(limit: limit, charset: response?.charsetLabel)
        }
    }

    /// JSON values, one on each line of a response, decoded by the request's decoder or the agent's; see
    /// ``Errand/HTTPBody/jsonLines(of:decoder:upTo:)``.
    ///
    /// ```swift
    /// for try await user in agent.jsonLines(Call(.get, "users"), of: User.self) { print(user.name) }
    /// ```
    public func jsonLines<R: Request, Value: Decodable & Sendable>(
        _ request: R, of type: Value.Type = Value.self, upTo limit: Int = ElementLimit.standard,
        options: CallOptions = CallOptions()
    ) -> ElementStream<Value> where R.Output == HTTPBody {
        values(request, options) { JSONLineSplitter(limit: limit) }
    }

    /// The values of a response that is a JSON text sequence; see ``Errand/HTTPBody/jsonSequence(of:decoder:upTo:)``.
    ///
    /// ```swift
    /// for try await user in agent.jsonSequence(Call(.get, "users"), of: User.self) { print(user.name) }
    /// ```
    public func jsonSequence<R: Request, Value: Decodable & Sendable>(
        _ request: R, of type: Value.Type = Value.self, upTo limit: Int = ElementLimit.standard,
        options: CallOptions = CallOptions()
    ) -> ElementStream<Value> where R.Output == HTTPBody {
        values(request, options) { JSONSequenceSplitter(limit: limit) }
    }

    /// The elements of a response that is one JSON array, each as soon as it is complete; see
    /// ``Errand/HTTPBody/jsonElements(of:decoder:upTo:)``.
    ///
    /// ```swift
    /// for try await user in agent.jsonElements(Call(.get, "users"), of: User.self) { print(user.name) }
    /// ```
    public func jsonElements<R: Request, Value: Decodable & Sendable>(
        _ request: R, of type: Value.Type = Value.self, upTo limit: Int = ElementLimit.standard,
        options: CallOptions = CallOptions()
    ) -> ElementStream<Value> where R.Output == HTTPBody {
        values(request, options) { JSONArraySplitter(limit: limit) }
    }

    private func values<R: Request, Value: Decodable & Sendable>(
        _ request: R, _ options: CallOptions,
        splitter: @escaping @Sendable () -> ElementSplitter
    ) -> ElementStream<Value> where R.Output == HTTPBody {
        ElementStream(.request { StreamSession(request, on: self, options, unit: "values") }) { response in
            (response.map { ElementDecoding($0) } ?? ElementDecoding(JSONDecoder())).reader(splitter())
        }
    }
}
