import ErrandJSONValidation
import Synchronization

/// A compiled schema with everything that it refers to. The program is immutable. Validation stores the states that it
/// derives in a ``SchemaMachine``.
final class SchemaProgram: Sendable {
    /// The node that every value fits.
    static let any: Int32 = 0

    let documents: [SchemaDocument]
    let nodes: [SchemaNode]
    private let resources: [(uri: String, root: SchemaLocation)]
    let numbers: [SchemaNumberRule]
    let strings: [SchemaStringRule]
    let arrays: [SchemaArrayRule]
    let objects: [SchemaObjectRule]
    let constants: [SchemaConstants]
    let patterns: [SchemaPattern]
    let tags: [SchemaTag]
    let root: Int32
    private let parked = Mutex<[SchemaMachine]>([])

    init(_ compiler: SchemaCompiler, root: Int32) {
        documents = compiler.registry.documents
        nodes = compiler.nodes
        resources = compiler.registry.resources.map { ($0.uri, $0.root) }
        numbers = compiler.numbers
        strings = compiler.strings
        arrays = compiler.arrays
        objects = compiler.objects
        constants = compiler.constants
        patterns = compiler.patterns
        tags = compiler.tags
        self.root = root
    }

    /// Tests compare the results with and without tags.
    func validate(_ text: Span<UInt8>, _ limits: JSONLimits, usesTags: Bool = true) -> JSONValidationError? {
        let limits = limits.clamped
        var validator = SchemaValidator(takeMachine(), program: self, textCount: text.count, limits: limits)
        validator.usesTags = usesTags
        validator.run(text)
        if validator.hasTooManyKeys, validator.hasParts {
            validator = SchemaValidator(validator.machine, program: self, textCount: text.count, limits: limits)
            validator.usesTags = false
            validator.run(text)
        }
        park(validator.machine)
        return validator.problems.error
    }

    func annotations(_ text: Span<UInt8>, _ limits: JSONLimits) -> Result<[JSONAnnotation], JSONValidationError> {
        var validator = SchemaValidator(
            SchemaMachine(self), program: self, textCount: text.count, limits: limits.clamped)
        validator.collector = AnnotationCollector(limit: JSONSchema.maximumAnnotations)
        // Annotations are stored by ``SchemaLane``, so tags, which leave out lanes, can't be used.
        validator.usesTags = false
        if let found = validator.collect(text) { return .success(found) }
        if let error = validator.problems.error { return .failure(error) }
        let problem = JSONProblem(
            kind: .limit, pointer: "", expected: "at most \(JSONSchema.maximumAnnotations) annotations",
            found: "more", offset: 0)
        return .failure(JSONValidationError(problems: [problem], count: 1))
    }

    private func takeMachine() -> SchemaMachine { parked.withLock { $0.popLast() } ?? SchemaMachine(self) }

    /// Keeps a machine for later validations, at most four of them. A machine grows with the documents that it
    /// validates, so large machines are dropped.
    private func park(_ machine: SchemaMachine) {
        guard !machine.isLarge else { return }
        parked.withLock { if $0.count < 4 { $0.append(machine) } }
    }

    /// Returns the resource's URI with a JSON Pointer to the keyword as the fragment.
    func location(_ node: Int32, _ keyword: String) -> String {
        let node = nodes[Int(node)]
        let resource = resources[node.resource]
        let pointer = documents[node.location.document].pointer(node.location.value, from: resource.root.value)
        return "\(resource.uri)#\(pointer)\(keyword)"
    }
}
