struct TreeBuilder {
    private let limits: XMLLimits
    private var open: [XMLTree] = []
    private var text = ""
    private var nodes = 0
    private var bytes = 0
    private(set) var finished: [XMLTree] = []

    init(_ limits: XMLLimits) { self.limits = limits }

    var isWithinElement: Bool { !open.isEmpty }

    mutating func add(_ event: XMLEvent) throws(XMLError) {
        switch event {
        case .start(let name, let attributes):
            try flush()
            guard open.count < limits.maximumDepth else {
                throw XMLError(.tooDeep, "elements are nested deeper than \(limits.maximumDepth) levels")
            }
            try count(1 + attributes.count, bytes: attributes.reduce(0) { $0 + $1.value.utf8.count })
            open.append(XMLTree(name, attributes: attributes))
        case .text(let more):
            if open.isEmpty { return }
            try count(0, bytes: more.utf8.count)
            if text.isEmpty { text = more } else { text += more }
        case .end:
            try flush()
            guard let element = open.popLast() else { return }
            guard open.isEmpty else { return open[open.count - 1].content.append(.element(element)) }
            finished.append(element)
            (nodes, bytes) = (0, 0)
        }
    }

    mutating func takeFinished() -> [XMLTree] {
        defer { finished = [] }
        return finished
    }

    private mutating func flush() throws(XMLError) {
        if text.isEmpty { return }
        try count(1, bytes: 0)
        open[open.count - 1].content.append(.text(text))
        text = ""
    }

    private mutating func count(_ more: Int, bytes moreBytes: Int) throws(XMLError) {
        nodes += more
        bytes += moreBytes
        guard nodes <= limits.maximumNodes else {
            throw XMLError(.tooLarge, "the tree has more than \(limits.maximumNodes) elements, attributes and texts")
        }
        guard bytes <= limits.maximumBytes else {
            throw XMLError(.tooLarge, "the text is longer than \(limits.maximumBytes) bytes")
        }
    }
}
