// The Kotlin compiler's view of calls: a plugin of it, which what npm's `kotlin-compiler` has in lib builds and runs:
//   K2="java -cp lib/* org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect"
//   $K2 -cp lib/kotlin-compiler.jar:lib/kotlin-stdlib.jar -d out calls.kt; in out, the line Plugin as the file
//   META-INF/services/org.jetbrains.kotlin.compiler.plugin.CompilerPluginRegistrar
//   CALLS=calls.json $K2 -cp lib/kotlin-stdlib.jar -Xplugin=calls.jar -d none FILES
// JSON: [[path, line, column, name, [[path, line]]]] of calls and references, as of calls.java: without a place where the
// declaration is elsewhere, and with that of the class, too, of a constructor. Left out: operators, what a variable holds,
// and what the compiler cannot tell.
@file:OptIn(SymbolInternals::class, ExperimentalCompilerApi::class)

import java.io.File
import org.jetbrains.kotlin.KtFakeSourceElementKind
import org.jetbrains.kotlin.compiler.plugin.CompilerPluginRegistrar
import org.jetbrains.kotlin.compiler.plugin.ExperimentalCompilerApi
import org.jetbrains.kotlin.config.CompilerConfiguration
import org.jetbrains.kotlin.diagnostics.DiagnosticReporter
import org.jetbrains.kotlin.fir.*
import org.jetbrains.kotlin.fir.analysis.checkers.MppCheckerKind
import org.jetbrains.kotlin.fir.analysis.checkers.context.CheckerContext
import org.jetbrains.kotlin.fir.analysis.checkers.expression.*
import org.jetbrains.kotlin.fir.analysis.extensions.FirAdditionalCheckersExtension
import org.jetbrains.kotlin.fir.declarations.*
import org.jetbrains.kotlin.fir.expressions.*
import org.jetbrains.kotlin.fir.extensions.*
import org.jetbrains.kotlin.fir.references.*
import org.jetbrains.kotlin.fir.resolve.getContainingClassSymbol
import org.jetbrains.kotlin.fir.resolve.providers.firProvider
import org.jetbrains.kotlin.fir.symbols.SymbolInternals
import org.jetbrains.kotlin.fir.symbols.impl.*

val calls = linkedSetOf<String>()
val texts = HashMap<String, String>()

class Plugin : CompilerPluginRegistrar() {
    override val pluginId get() = "calls"
    override val supportsK2 get() = true
    override fun ExtensionStorage.registerExtensions(configuration: CompilerConfiguration) {
        FirExtensionRegistrarAdapter.registerExtension(Registrar())
        val out = File(System.getenv("CALLS"))
        Runtime.getRuntime().addShutdownHook(Thread { out.writeText(calls.joinToString(",\n", "[", "]")) })
    }
}

class Registrar : FirExtensionRegistrar() {
    override fun ExtensionRegistrarContext.configurePlugin() {
        +::Checkers
    }
}

class Checkers(session: FirSession) : FirAdditionalCheckersExtension(session) {
    override val expressionCheckers = object : ExpressionCheckers() {
        override val qualifiedAccessExpressionCheckers = setOf<FirQualifiedAccessExpressionChecker>(Calls)
    }
}

object Calls : FirQualifiedAccessExpressionChecker(MppCheckerKind.Common) {
    context(context: CheckerContext, reporter: DiagnosticReporter)
    override fun check(expression: FirQualifiedAccessExpression) {
        val reference = expression.calleeReference
        val isNamed = expression is FirFunctionCall && expression.origin != FirFunctionCallOrigin.Operator
        val isCall = isNamed && expression !is FirImplicitInvokeCall
        val symbol = reference.toResolvedCallableSymbol() ?: return
        val source = reference.source ?: return
        val path = context.containingFilePath ?: return
        if (!isCall && expression !is FirCallableReferenceAccess || reference is FirErrorNamedReference) return
        if (source.kind is KtFakeSourceElementKind || symbol is FirValueParameterSymbol) return
        var at = source.startOffset
        if (text(path)[at] == '`') at++
        val name = text(path).substring(at).takeWhile { it.isLetterOrDigit() || it == '_' }
        if (name.isNotEmpty()) calls += "[\"$path\", ${place(path, at)}, \"$name\", ${places(symbol, path)}]"
    }

    // Where a declaration begins; what is local has no file of its own.
    fun places(symbol: FirCallableSymbol<*>, path: String): List<String> {
        val declared: FirCallableDeclaration = symbol.fir.unwrapFakeOverrides()
        val meant = declared.unwrapSubstitutionOverrides()
        val files = meant.moduleData.session.firProvider
        val type = (meant.symbol as? FirConstructorSymbol)?.getContainingClassSymbol() as? FirClassSymbol<*>
        val ofClass = type?.let { files.getFirClassifierContainerFileIfAny(it.classId) }
        val file = ofClass ?: files.getFirCallableContainerFile(meant.symbol)
        val within = file?.sourceFile?.path ?: path
        val lines = listOfNotNull(meant.source, type?.fir?.source).map { line(within, behindComments(within, it.startOffset)) }
        return lines.distinct().map { "[\"$within\", $it]" }
    }

    fun text(path: String) = texts.getOrPut(path) { File(path).readText().replace("\r\n", "\n") }

    fun line(path: String, at: Int) = 1 + text(path).substring(0, at).count { it == '\n' }

    fun place(path: String, at: Int): String {
        val begin = text(path).lastIndexOf('\n', at - 1) + 1
        return "${line(path, at)}, ${text(path).substring(begin, at).toByteArray().size}"
    }

    // Comments stand within others: /* /* */ */
    fun behindComments(path: String, from: Int): Int {
        val text = text(path)
        var at = from
        var depth = 0
        while (at < text.length) {
            when {
                text.startsWith("/*", at) -> { depth++; at += 2 }
                depth > 0 && text.startsWith("*/", at) -> { depth--; at += 2 }
                depth > 0 || text[at].isWhitespace() -> at++
                text.startsWith("//", at) -> at = text.indexOf('\n', at).takeIf { it >= 0 } ?: text.length
                else -> return at
            }
        }
        return from
    }
}
