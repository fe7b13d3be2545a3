// The AWS SDK for Go v2: a table with indexes, every type, pages, batches, transactions, statements, typed errors, waiters.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	watched "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

var (
	ctx   = context.Background()
	table = fmt.Sprintf("go-%d-%d", os.Getpid(), time.Now().UnixNano())
)

// Order is an item as a Go program keeps it.
type Order struct {
	Customer string              `dynamodbav:"customer"`
	Placed   int                 `dynamodbav:"placed"`
	State    string              `dynamodbav:"state,omitempty"`
	Total    float64             `dynamodbav:"total"`
	Paid     bool                `dynamodbav:"paid"`
	Photo    []byte              `dynamodbav:"photo,omitempty"`
	Tags     []string            `dynamodbav:"tags,stringset,omitempty"`
	Sizes    []int               `dynamodbav:"sizes,numberset,omitempty"`
	Lines    []map[string]string `dynamodbav:"lines,omitempty"`
	Expires  time.Time           `dynamodbav:"expires,unixtime"`
	Note     *string             `dynamodbav:"note"`
}

func check(holds bool, format string, values ...any) {
	if !holds {
		panic(fmt.Sprintf(format, values...))
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func key(customer string, placed int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"customer": &types.AttributeValueMemberS{Value: customer},
		"placed":   &types.AttributeValueMemberN{Value: strconv.Itoa(placed)},
	}
}

func createsTable(client *dynamodb.Client) {
	schema := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{
			{AttributeName: aws.String(hash), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String(sort), KeyType: types.KeyTypeRange},
		}
	}
	must(client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   aws.String(table),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("customer"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("placed"), AttributeType: types.ScalarAttributeTypeN},
			{AttributeName: aws.String("state"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: schema("customer", "placed"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String("by-state"),
			KeySchema:  schema("state", "placed"),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	}))
	waiter := dynamodb.NewTableExistsWaiter(client, func(options *dynamodb.TableExistsWaiterOptions) {
		options.MinDelay, options.MaxDelay = 100*time.Millisecond, time.Second
	})
	described := must(waiter.WaitForOutput(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table)}, time.Minute))
	check(described.Table.TableStatus == types.TableStatusActive, "the table is %s", described.Table.TableStatus)
	names := must(client.ListTables(ctx, &dynamodb.ListTablesInput{})).TableNames
	check(len(names) > 0, "no table is listed")
}

func keepsEveryType(client *dynamodb.Client) {
	order := Order{
		Customer: "ann", Placed: 1, Total: 12.5, Paid: true, Photo: []byte{0, 1, 255}, Tags: []string{"a", "b"},
		Sizes: []int{1, 2}, Lines: []map[string]string{{"sku": "x"}}, Expires: time.Unix(1_900_000_000, 0),
	}
	must(client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(table), Item: must(attributevalue.MarshalMap(order))}))
	found := must(client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(table), Key: key("ann", 1), ConsistentRead: aws.Bool(true),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}))
	var again Order
	if err := attributevalue.UnmarshalMap(found.Item, &again); err != nil {
		panic(err)
	}
	check(reflect.DeepEqual(order, again), "%v is not %v", again, order)
	check(*found.ConsumedCapacity.CapacityUnits == 1, "a strong read cost %v", *found.ConsumedCapacity.CapacityUnits)
	missing := must(client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(table), Key: key("nobody", 1)}))
	check(missing.Item == nil, "nobody was found")
}

func changesItems(client *dynamodb.Client) {
	change := must(expression.NewBuilder().
		WithUpdate(expression.Set(expression.Name("state"), expression.Value("open")).
			Add(expression.Name("total"), expression.Value(7.5)).
			Remove(expression.Name("lines[0].sku")).
			Delete(expression.Name("tags"), expression.Value(&types.AttributeValueMemberSS{Value: []string{"a"}}))).
		WithCondition(expression.Name("paid").Equal(expression.Value(true)).
			And(expression.Size(expression.Name("photo")).Equal(expression.Value(3)))).
		Build())
	update := &dynamodb.UpdateItemInput{
		TableName: aws.String(table), Key: key("ann", 1), UpdateExpression: change.Update(),
		ConditionExpression: change.Condition(), ExpressionAttributeNames: change.Names(),
		ExpressionAttributeValues: change.Values(), ReturnValues: types.ReturnValueAllNew,
	}
	var changed Order
	if err := attributevalue.UnmarshalMap(must(client.UpdateItem(ctx, update)).Attributes, &changed); err != nil {
		panic(err)
	}
	check(changed.Total == 20 && changed.State == "open" && reflect.DeepEqual(changed.Tags, []string{"b"}), "%v", changed)
	check(len(changed.Lines) == 1 && len(changed.Lines[0]) == 0, "%v", changed.Lines)
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(table), Item: key("ann", 1), ConditionExpression: aws.String("attribute_not_exists(customer)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var refused *types.ConditionalCheckFailedException
	check(errors.As(err, &refused), "%v", err)
	check(len(refused.Item) > 2, "the item was not given: %v", refused.Item)
}

func readsInPages(client *dynamodb.Client) {
	var writes []types.WriteRequest
	for number := range 60 {
		item := must(attributevalue.MarshalMap(Order{Customer: "bob", Placed: number, State: fmt.Sprint("s", number%2)}))
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
	}
	_, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: writes}})
	var failure smithy.APIError
	check(errors.As(err, &failure) && failure.ErrorCode() == "ValidationException", "26 and more writes: %v", err)
	for start := 0; start < len(writes); start += 25 {
		part := writes[start:min(start+25, len(writes))]
		done := must(client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: part}}))
		check(len(done.UnprocessedItems) == 0, "%d were left", len(done.UnprocessedItems))
	}
	condition := must(expression.NewBuilder().WithKeyCondition(
		expression.Key("state").Equal(expression.Value("s1")).And(expression.Key("placed").GreaterThan(expression.Value(20))),
	).Build())
	pages := dynamodb.NewQueryPaginator(client, &dynamodb.QueryInput{
		TableName: aws.String(table), IndexName: aws.String("by-state"), Limit: aws.Int32(7),
		KeyConditionExpression: condition.KeyCondition(), ExpressionAttributeNames: condition.Names(),
		ExpressionAttributeValues: condition.Values(), ScanIndexForward: aws.Bool(false),
	})
	var placed []int
	for pages.HasMorePages() {
		var orders []Order
		if err := attributevalue.UnmarshalListOfMaps(must(pages.NextPage(ctx)).Items, &orders); err != nil {
			panic(err)
		}
		for _, order := range orders {
			placed = append(placed, order.Placed)
		}
	}
	check(len(placed) == 20 && placed[0] == 59 && placed[19] == 21, "%v", placed)
	var count int32
	for scan := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: aws.String(table), Limit: aws.Int32(9)}); scan.HasMorePages(); {
		count += must(scan.NextPage(ctx)).Count
	}
	check(count == 61, "%d were scanned", count)
	keys := []map[string]types.AttributeValue{key("bob", 1), key("bob", 2), key("bob", 999)}
	batch := must(client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: {Keys: keys}}}))
	check(len(batch.Responses[table]) == 2, "%v", batch.Responses)
}

func runsTransactions(client *dynamodb.Client) {
	put := func(placed int) types.TransactWriteItem {
		return types.TransactWriteItem{Put: &types.Put{TableName: aws.String(table), Item: key("tx", placed)}}
	}
	token := table[len(table)-20:]
	good := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{put(1), put(2)}, ClientRequestToken: aws.String(token)}
	must(client.TransactWriteItems(ctx, good))
	must(client.TransactWriteItems(ctx, good))
	_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{put(9)}, ClientRequestToken: aws.String(token),
	})
	var mismatch *types.IdempotentParameterMismatchException
	check(errors.As(err, &mismatch), "%v", err)
	guard := types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: aws.String(table), Key: key("tx", 1), ConditionExpression: aws.String("attribute_not_exists(customer)"),
	}}
	_, err = client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{put(3), guard}})
	var cancelled *types.TransactionCanceledException
	check(errors.As(err, &cancelled), "%v", err)
	codes := []string{*cancelled.CancellationReasons[0].Code, *cancelled.CancellationReasons[1].Code}
	check(reflect.DeepEqual(codes, []string{"None", "ConditionalCheckFailed"}), "%v", codes)
	get := func(placed int) types.TransactGetItem {
		return types.TransactGetItem{Get: &types.Get{TableName: aws.String(table), Key: key("tx", placed)}}
	}
	found := must(client.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{get(1), get(3)}}))
	check(found.Responses[0].Item != nil && found.Responses[1].Item == nil, "%v", found.Responses)
}

func runsStatements(client *dynamodb.Client) {
	statement := fmt.Sprintf(`SELECT placed FROM "%s" WHERE customer = ? AND placed >= ?`, table)
	parameters := must(attributevalue.MarshalList([]any{"bob", 55}))
	found := must(client.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{Statement: aws.String(statement), Parameters: parameters}))
	check(len(found.Items) == 5, "%v", found.Items)
}

func namesErrors(client *dynamodb.Client) {
	_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("missing"), Key: key("x", 1)})
	var missing *types.ResourceNotFoundException
	check(errors.As(err, &missing), "%v", err)
	_, err = client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("a"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("a"), KeyType: types.KeyTypeHash}},
	})
	var inUse *types.ResourceInUseException
	check(errors.As(err, &inUse), "%v", err)
	_, err = client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(table), Key: key("x", 1), ProjectionExpression: aws.String("a,,b")})
	var failure smithy.APIError
	check(errors.As(err, &failure) && failure.ErrorCode() == "ValidationException", "%v", err)
}

func dropsTable(client *dynamodb.Client) {
	must(client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String(table)}))
	waiter := dynamodb.NewTableNotExistsWaiter(client, func(options *dynamodb.TableNotExistsWaiterOptions) {
		options.MinDelay, options.MaxDelay = 100*time.Millisecond, time.Second
	})
	if err := waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table)}, time.Minute); err != nil {
		panic(err)
	}
}

// CloudWatch, which this SDK asks in CBOR.
func watches(client *cloudwatch.Client) {
	datum := watched.MetricDatum{MetricName: aws.String("Sales"), Value: aws.Float64(1.5), Timestamp: aws.Time(time.Now())}
	must(client.PutMetricData(ctx, &cloudwatch.PutMetricDataInput{
		Namespace: &table, MetricData: []watched.MetricDatum{datum, datum},
	}))
	query := &cloudwatch.GetMetricStatisticsInput{
		Namespace: &table, MetricName: aws.String("Sales"), Period: aws.Int32(60),
		Statistics: []watched.Statistic{watched.StatisticSum},
		StartTime:  aws.Time(time.Now().Add(-time.Hour)), EndTime: aws.Time(time.Now().Add(time.Hour)),
	}
	total := 0.0
	for _, point := range must(client.GetMetricStatistics(ctx, query)).Datapoints {
		check(time.Since(*point.Timestamp).Abs() < time.Hour, "a point of %v", point.Timestamp)
		total += *point.Sum
	}
	check(total == 3, "the points have %v", total)
	must(client.PutMetricAlarm(ctx, &cloudwatch.PutMetricAlarmInput{
		AlarmName: &table, Namespace: &table, MetricName: aws.String("Sales"), Statistic: watched.StatisticSum,
		Period: aws.Int32(60), EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(2),
		ComparisonOperator: watched.ComparisonOperatorGreaterThanThreshold,
	}))
	alarms := must(client.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{AlarmNames: []string{table}})).MetricAlarms
	check(len(alarms) == 1 && *alarms[0].Threshold == 2, "alarms %v", alarms)
	must(client.DeleteAlarms(ctx, &cloudwatch.DeleteAlarmsInput{AlarmNames: []string{table}}))
	_, err := client.SetAlarmState(ctx, &cloudwatch.SetAlarmStateInput{
		AlarmName: &table, StateValue: watched.StateValueOk, StateReason: aws.String("a tour"),
	})
	var missing *watched.ResourceNotFound
	check(errors.As(err, &missing), "an alarm that was deleted: %v", err)
}

func main() {
	settings := must(config.LoadDefaultConfig(ctx,
		config.WithRegion("us-east-1"),
		config.WithBaseEndpoint(os.Args[1]),
		config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("test", "test", "")),
	))
	client := dynamodb.NewFromConfig(settings)
	for _, step := range []func(*dynamodb.Client){
		createsTable, keepsEveryType, changesItems, readsInPages, runsTransactions, runsStatements, namesErrors, dropsTable,
	} {
		step(client)
	}
	watches(cloudwatch.NewFromConfig(settings))
	fmt.Println("tour complete")
}
